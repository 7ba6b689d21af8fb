// Package extensions compares custom resources with those of apiextensions-apiserver itself, which is the part of
// kube-apiserver that serves them: it runs in the same process, on an etcd of its own, and both servers are sent the
// same random requests. It is a module of its own, so that the server doesn't depend on that one's libraries.
//
// It guarantees:
//
//  1. Definitions are random: two or three versions that know different fields, with other types and defaults, any of
//     which is stored; without conversion and with a webhook.
//  2. Creates, updates, merge and JSON patches, applies, and requests for the status and the scale are made at all
//     versions by several managers, some as dry runs, with all kinds of field validation.
//  3. Code, warnings and body of each answer are the same, and so is the object, read at a random version. Only what
//     servers choose by themselves (uids, revisions, times) and the order of maps is left out of account.
//
// Not compared: definitions themselves, which controllers of ours that don't run here would establish, lists, watches,
// deletions, and admission.
package extensions
