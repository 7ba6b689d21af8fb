// Package dynamic has the admission plugins that call webhooks and evaluate policies.
//
//	Live     the configurations in the cache, as a Set
//	Set      one state of all configurations, and which of them concern a request
//	request  one request, as webhooks and policies get it
//	view     the objects of a request in the versions of their resource
//	policy   a policy of either type; invocation, one that matches a request, with a binding and a param
//	Objects  the params and namespaces that policies get
//	Metrics  calls of webhooks, rejections, match conditions and the duration of steps
//
// Package admission/webhook calls webhooks, package expression evaluates expressions.
//
// It guarantees:
//
//  1. A configuration applies to every request that begins after the response to its write, until the response to its
//     deletion (O-01). There is no goroutine: a request brings the Set up to date with the cache.
//  2. A request that no configuration concerns is neither decoded nor converted nor copied. Without configurations the
//     plugins cost two atomic loads, and six comparisons after a write.
//  3. All plugins of a round see the object as their predecessors have left it, regardless of the version that they
//     matched (O-03).
//  4. A request is admitted by one Set in each of its phases.
//  5. If a configuration can't be read or decoded, its plugin rejects requests that it might concern, rather than to
//     admit them without it. Those for configurations are exempt, so that it can be replaced.
//  6. All errors are API errors.
//  7. Policies, their bindings and params are evaluated in the order of their names. Params are read with the same
//     freshness as the request's own objects.
//  8. The memory for params and namespaces that are kept between requests is limited. The metrics' series of a policy,
//     binding or webhook are deleted with it.
package dynamic
