// Package expression compiles and evaluates the CEL expressions of admission: match conditions of webhooks, and
// ValidatingAdmissionPolicies and MutatingAdmissionPolicies. It knows neither bindings nor which requests a policy
// matches, nor the response to a denial. Request has the properties of a request that expressions can use.
//
//	CompileConditions, CompileValidating, CompileMutating   once for each stored object
//	Request.In                                              once for each request and version of its objects
//	Match, Validate, Patch                                  for each webhook, or policy, binding and param
//	Checker                                                 when webhooks and policies are written
//	CheckTypes                                              for the status of a policy
//
// The environments, types, costs and patches are those of k8s.io/apiserver (pkg/cel, pkg/admission/plugin/cel and
// pkg/admission/plugin/policy/mutating/patch). Upstream's plugins around them need informers and clientsets, so this
// package makes their decisions. The rules that comments cite are those of section L and M of the specification of
// admission; ASC is pkg/admission/plugin/cel of k8s.io/apiserver, ASP pkg/admission/plugin/policy and ASW
// pkg/admission/plugin/webhook.
//
// It guarantees:
//
//  1. Messages, reasons and costs are upstream's; conformance/recorded/admission has the responses of upstream's
//     plugins.
//  2. Compiling always succeeds. An expression that does not compile is an error of each evaluation, to which the
//     failure policy applies.
//  3. Compiled values are immutable and may be used by any goroutine; a Version, and the Authorizer that AuthorizerOf
//     returns, by one at a time.
//  4. Evaluation changes none of its arguments, blocks only as long as the authorizer does, and ends: its cost is
//     bounded by upstream's budgets, and it observes the context.
//  5. Environments are made when they are first needed. Policies without variables share them; a policy with variables
//     adds the types of its variables.
//  6. A Version converts its objects, the request and the namespace once, however many expressions are evaluated on it.
package expression
