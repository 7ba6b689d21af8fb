// Package openapi makes the OpenAPI v3 and v2 documents of the API at run time, from the Go types of its objects, and
// serves them under /openapi/v3 and /openapi/v2.
//
//	source() -> []Type -> snapshot: paths and hashes        (at the first request, or after Invalidate)
//	part: the types of a group version                      (the inputs of a document of v3)
//	Type -> operations -> kube-openapi's builders -> bytes   (at the first request of a document)
//	Go type -> schema: struct tags, SwaggerDoc, OpenAPIModelName, and package markers
//
// It guarantees:
//
//  1. Nothing is read, built or kept before the first request.
//  2. The index of v3 builds no document, and makes no schema of a custom resource: a document's hash is that of its
//     sources, so two servers of one binary and the same types have the same hash.
//  3. Of a document the compressed bytes are kept, once for JSON and once for protobuf, and only if they were
//     requested. Types that Invalidate does not change keep them. A document refers to its own types and to what all
//     documents share, never to a former state: memory is linear in the number of types, and does not depend on that
//     of changes.
//  4. A document is built once, even if many clients request it at the same time. Requests for other documents don't
//     wait.
//  5. The same types result in the same bytes.
//  6. Every $ref resolves inside its document.
//  7. The document of v2 is made in pieces, one for each group version of custom resources, so that making it does not
//     take the memory of all schemas at once.
//  8. A custom resource whose schema can't be made is missing in its documents; all others are there.
//
// The documents are served by own code: kube-openapi's handler3 builds all of them before it serves the index, as it
// hashes their bytes, and keeps them uncompressed.
//
// Known differences from Kubernetes' documents: in v2 and for custom resources DeleteOptions and WatchEvent list the
// served group versions and not all that exist; the values of an enum are listed in descriptions without a sentence
// about each; IntOrString has our own description.
package openapi
