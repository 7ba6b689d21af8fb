// Package ui is the page that shows the objects of a cluster, their owners, and ongoing deletions: its files, and the
// messages that it reads. src has its sources, dist what make ui builds from them. internal/cluster serves it for any
// cluster, and every kubecascade server at /ui/.
//
// It guarantees:
//
//  1. The files in dist are all that a browser needs: the page sends requests to the server that it comes from, and to
//     no other host. Its Content-Security-Policy allows nothing else, no inline script, and no markup made of strings.
//  2. The files are the same for all users, and contain no data of a cluster.
//  3. A stream is a sequence of lines, each a Message. It begins with MessageBegin; everything up to MessageSynced is
//     one state. MessageBegin may also come later in a stream; a whole new state follows it.
//  4. Changes are in the order in which they happened. A change that changes nothing of an Object is left out.
package ui
