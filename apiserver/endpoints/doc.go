// Package endpoints serves Kubernetes' verbs over HTTP: what is below /api/<version> and /apis/<group>/<version>.
//
// A request comes authenticated, authorized and parsed (package requestinfo). resource.go finds the type and the verb,
// run.go reads the body, waits for memory (memory.go) and for a seat, and calls the verb's file: create.go, get.go,
// list.go, watch.go, update.go, patch.go, delete.go, deletecollection.go. A verb's handler has a few lines: negotiate,
// read options, decode, let package registry do it, answer.
//
// It guarantees:
//
//  1. A handler knows no kinds. What differs between them is a field of resources.Resource.
//  2. What is asked of objects is carried out by package registry, for clients and controllers alike.
//  3. A watch that starts where a list ended misses nothing.
//  4. Memory is estimated before a body is decoded (weigh.go) or an answer is made (render/cost.go).
//  5. An update that creates needs the right to create, too.
package endpoints
