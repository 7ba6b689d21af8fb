// Package ownership answers questions about the ownership and the deletion of objects from the memory of a running
// server: tree, why, preview and lint, at /kubecascade/v1/, and the stream of objects and changes for the page (package
// ui). gc/explain has the answers, the cache has the objects. This package owns the index of uids, which finds the few
// objects that an answer depends on.
//
// It guarantees:
//
//  1. An answer is of one revision, which it names. That is not older than the store's at the beginning of the request.
//  2. Metadata of objects is shown only if the user may list them: all of a resource, or those of the namespace in the
//     request. Others are neither shown nor followed, and the answer says for which resources that is so. Webhooks and
//     policies of admission are named for those who may list them all.
//  3. An index is made by the first question, follows the cache's history from then on, and is dropped when no question
//     came for Idle. A server that is not asked holds nothing.
//  4. Few questions are answered at a time.
//     An answer depends on at most MostObjects objects; questions with more are rejected. A question ends when its
//     client goes away, or after Timeout.
//  5. At most MostStreams streams of the graph are open at a time, each with at most MostObjects objects when it begins,
//     and for streamTime. A stream sends each change of the metadata of what the user may list once, in the order of
//     revisions. It has a position in the cache's history, and no queue: one that falls behind gets a new state.
//  6. Neither the collector nor the cache waits for a question.
package ownership
