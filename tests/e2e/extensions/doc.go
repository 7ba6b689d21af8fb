// Package extensions compares custom resources with those of apiextensions-apiserver itself, which is the part of
// kube-apiserver that serves them: it runs in the same process, on an etcd of its own, and both servers are sent the
// same random requests.
//
// It guarantees:
//
//  1. CustomResourceDefinitions are random. They have two or three versions with different fields, types and defaults,
//     any of which is stored. Some have no conversion, some have a webhook.
//  2. Creates, updates, merge and JSON patches, applies, and requests for the status and the scale are made at all
//     versions by several managers, some as dry runs, with all kinds of field validation.
//  3. Code, warnings and body of each response are the same, and so is the object, read at a random version. Only
//     values that servers choose themselves (uids, revisions, times) and the order of maps is ignored.
//  4. The commands tree, why, preview and lint answer about this server, which has neither namespaces nor a collector, and
//     previews are what then happens (TestExplain).
//
// Not compared: lists, watches, deletions, admission, and CustomResourceDefinitions themselves, because our controllers
// that establish them don't run here.
package extensions
