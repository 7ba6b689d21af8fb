// Package ui has the files of the web UI ("the page"), and the types of the messages that servers send to it. The page
// shows the objects of a cluster, their owners, and ongoing deletions. src has the page's sources, and dist the files
// that make ui builds from them. internal/cluster serves it for any cluster, and every kubecascade server at /ui/.
//
// It guarantees:
//
//  1. A browser needs only the files in dist: the page sends requests to its own server, and to no other host. Its
//     Content-Security-Policy allows nothing else, no inline script, and no markup made of strings.
//  2. The files are the same for all users, and contain no data of a cluster.
//  3. A stream is a sequence of lines, each a Message. It begins with a state: the messages from MessageBegin to
//     MessageSynced. A later MessageBegin begins another complete state.
//  4. Changes are in the order in which they happened. A change that changes no field of an Object is omitted.
package ui
