// Package respond sends responses: bodies, in one piece or as they are made, Status objects and Warning headers.
//
// It guarantees:
//
//  1. Error sends the Status that package status makes of the error, in a format that the client accepts.
//  2. Large responses are compressed for clients that accept gzip.
//  3. A response ends if its client takes too long to read a part of it (Recorder).
//  4. Errors of the server itself are logged, with at most 2 KiB of the client's input, unless the client has gone
//     away.
package respond
