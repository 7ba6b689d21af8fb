// Package webhook calls admission webhooks: it makes the AdmissionReview, has package apiserver/webhook send it, and
// reads the response.
//
// It guarantees:
//
//  1. A response is used only if it belongs to the request and has the form of its version (L-76 to L-78).
//  2. Errors are of three kinds: CallError, to which the failure policy applies (L-83, L-84); a denial, whose Status is
//     the webhook's (L-81); and errors of the request, to which no failure policy applies (L-60, L-85).
//  3. It does not depend on configurations and selectors: it receives the webhooks that match.
package webhook
