// Package openapi builds the OpenAPI v3 and v2 documents of the API at run time, from the Go types of its objects and
// the schemas of custom resources, and serves them under /openapi/v3 and /openapi/v2.
//
//	source() -> []Type -> snapshot: paths and hashes        (at the first request, or after Invalidate)
//	part: the types of a group version                      (the inputs of a document of v3)
//	Type -> operations -> kube-openapi's builders -> bytes   (at the first request of a document)
//	Go type -> schema: struct tags, SwaggerDoc, OpenAPIModelName, and package markers
//
// It guarantees:
//
//  1. It reads, builds and keeps nothing before the first request.
//  2. For the index of v3 it builds no document, and no schema of a custom resource. The hash of a document is the hash
//     of its sources, so two servers of one binary with the same types have the same hashes.
//  3. It keeps a document's compressed bytes in each format, JSON and protobuf, after the first request for it. A
//     document whose types have not changed keeps them after Invalidate. A document refers to its own types and to data
//     that all documents share, but never to an earlier state, so the memory does not depend on the number of changes.
//  4. A document is built once, even if many clients request it at the same time. Requests for other documents don't
//     wait.
//  5. The same types result in the same bytes.
//  6. Every $ref resolves in its document.
//  7. The document of v2 is built in pieces, one for each group version of custom resources, so that the schemas are
//     never in memory all at once.
//  8. A custom resource whose schema can't be built is omitted from its documents. All other types are in them.
//
// The package does not use kube-openapi's handler3. Its index has the hashes of the documents' bytes, so it must build
// all documents, and keep them uncompressed, before it can serve the index.
//
// Known differences from Kubernetes' documents: in v2 and for custom resources, DeleteOptions and WatchEvent list only
// the served group versions. Descriptions list the values of an enum without a sentence about each value. IntOrString
// has our own description.
package openapi
