// Package dynamic has the admission plugins that call webhooks and evaluate policies.
//
//	Live     returns the Set of the configurations that are in the cache now
//	Set      all configurations at one revision; finds those whose rules match a request
//	request  the data of a request that webhooks and policies get
//	view     the objects of a request, converted to the versions that webhooks and policies match
//	policy   a policy of either type; an invocation is a matching policy with one binding and one param
//	Objects  reads the params and namespaces that policies get
//	Metrics  counts and times calls of webhooks, rejections, match conditions and steps
//
// Package admission/webhook calls webhooks, package expression evaluates expressions.
//
// It guarantees:
//
//  1. A configuration applies to every request that starts after the response to its creation and before the response
//     to its deletion (O-01). No goroutine updates the Set: a request does, if the cache has changed.
//  2. A request that matches the rules of no configuration is not decoded, converted or copied for admission.
//  3. Each mutating webhook or policy gets the object with the changes of all that run before it, even if they match
//     different versions of the resource (O-03).
//  4. Each phase of a request, mutating or validating, uses one Set.
//  5. If a configuration can't be read or decoded, its plugin rejects all requests, because the configuration might
//     match them. Requests that write configurations are exempt, so that users can replace the unreadable one.
//  6. All errors are API errors.
//  7. Policies, their bindings and params are evaluated in the order of their names. Reads of params are as fresh as
//     those of the request's own objects.
//  8. The memory of the cached params and namespaces is limited. When a policy, binding or webhook is deleted, its
//     metric series are deleted, too.
package dynamic
