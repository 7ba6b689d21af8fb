// Package openapi makes the OpenAPI v3 and v2 documents of the API at run time, from the Go
// types of its objects, and serves them under /openapi/v3 and /openapi/v2.
//
//	source() -> []Type -> snapshot: paths and hashes        (when first asked, or after Invalidate)
//	Type -> operations -> kube-openapi's builders -> bytes   (when a document is first asked for)
//	Go type -> schema: struct tags, SwaggerDoc, OpenAPIModelName, and package markers
//
// It guarantees:
//
//  1. Nothing is read, built or kept before the first request.
//  2. The index of v3 builds no document: a document's hash is that of what it is made from, so
//     two servers of one binary and the same types agree on it.
//  3. Of a document only its compressed bytes are kept, once for JSON and once for protobuf, and
//     only if they were asked for. Types that are left as they were by Invalidate keep them.
//  4. A document is built once, also when many ask at the same time; who asks for another one
//     doesn't wait.
//  5. The same types give the same bytes.
//  6. Every $ref resolves inside its document.
//
// Own code serves the documents: kube-openapi's handler3 builds each of them before it serves the index, as it hashes
// their bytes, and keeps them uncompressed.
//
// What is known to differ from Kubernetes' documents: in v2 and for custom resources DeleteOptions
// and WatchEvent list the group versions that are served and not those that exist; the values of
// an enum are listed in descriptions without a sentence about each; IntOrString is described in
// words of our own; operations that need a kubelet or a proxy are absent.
package openapi
