// Package expression compiles and evaluates the CEL expressions of admission: match conditions of webhooks,
// ValidatingAdmissionPolicies and MutatingAdmissionPolicies. Other packages handle bindings, match requests with
// policies, and respond to denials. Request has the properties of a request that expressions can use.
//
//	CompileConditions, CompileValidating, CompileMutating   once for each stored object
//	Request.In                                              once for each request and version of its objects
//	Match, Validate, Patch                                  for each webhook, or each policy with a binding and a param
//	Checker                                                 when webhooks and policies are written
//	CheckTypes                                              for the status of a policy
//
// The environments, types, costs and patches are those of k8s.io/apiserver (pkg/cel, pkg/admission/plugin/cel and
// pkg/admission/plugin/policy/mutating/patch). This package replaces the code of upstream's plugins, because those
// plugins need informers and clientsets. Comments cite rules of sections L and M of docs/semantics-admission.md. In
// comments, ASC is pkg/admission/plugin/cel of k8s.io/apiserver, ASP is pkg/admission/plugin/policy, and ASW is
// pkg/admission/plugin/webhook.
//
// It guarantees:
//
//  1. Messages, reasons and costs are upstream's; conformance/recorded/admission has the responses of upstream's
//     plugins.
//  2. The Compile functions return no error. An expression that does not compile causes an error in each evaluation, to
//     which the failure policy applies.
//  3. Compiled values are immutable and may be used by any goroutine. A Version may be used by one goroutine at a time,
//     and so may the Authorizer that AuthorizerOf returns.
//  4. Evaluation modifies none of its arguments, and blocks only while the authorizer blocks. It always ends:
//     upstream's budgets limit its cost, and it stops when the context is done.
//  5. Environments are created at their first use. Policies without variables share them; a policy with variables adds
//     the types of its variables.
package expression
