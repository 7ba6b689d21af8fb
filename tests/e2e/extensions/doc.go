// Package extensions compares custom resources with those of apiextensions-apiserver itself, the part of kube-apiserver
// that serves them. It runs in the same process, with its own etcd. Both servers receive the same random requests.
//
// It guarantees:
//
//  1. CustomResourceDefinitions are random. They have two or three versions with different fields, types and defaults,
//     any of which is stored. Some have no conversion, some have a webhook.
//  2. Creates, updates, merge and JSON patches, applies, and requests for the status and the scale are made at all
//     versions by several managers, some as dry runs, with all kinds of field validation.
//  3. Code, warnings and body of each response are the same. The object is also the same when it is read at a random
//     version. The comparison ignores only values that a server chooses (uids, revisions, times) and the order of maps.
//  4. The commands tree, why, preview and lint work with apiextensions-apiserver, which has neither namespaces nor a
//     collector. Deletions have the effect that previews show (TestExplanationsHoldOnUpstream).
//
// Not compared: lists, watches, deletions, admission, and CustomResourceDefinitions themselves. The controllers that
// establish the definitions don't run here.
package extensions
