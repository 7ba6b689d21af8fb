// Package endpoints serves Kubernetes' verbs over HTTP, below /api/<version> and /apis/<group>/<version>.
//
// The filters before Resolve authenticate, authorize and parse the request (package requestinfo). Resolve finds the
// type and the verb (resolve.go). The filters after it read the body and wait for a seat. ServeHTTP waits for memory
// (body.go) and calls the handler in the verb's file: create.go, get.go, list.go, watch.go, update.go, patch.go,
// delete.go, deletecollection.go. A handler is a few lines: negotiate, read options, decode, call package registry,
// respond.
//
// It guarantees:
//
//  1. A handler does not depend on kinds. Every difference between kinds is a field of resources.Resource.
//  2. Package registry executes all requests for objects, for clients and for controllers.
//  3. A watch that starts at a list's resourceVersion misses no event.
//  4. Memory is estimated and acquired before a body is decoded (body.go) or a response is encoded (render/cost.go).
//  5. An update that creates an object also needs the permission to create it.
package endpoints
