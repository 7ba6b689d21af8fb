// Package respond sends answers: bodies, in one piece or as they are made, Status objects and Warning headers.
//
// It guarantees:
//
//  1. Error answers with a Status, in the form that the client accepts, which package status makes of the error.
//  2. Large answers are compressed for clients that accept gzip, and let other requests run meanwhile.
//  3. Failures that are the server's own are logged, with at most 2 KiB of what a client sent.
package respond
