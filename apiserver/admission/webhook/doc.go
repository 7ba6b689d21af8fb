// Package webhook calls admission webhooks. It encodes the AdmissionReview, sends it with package apiserver/webhook,
// and decodes the response.
//
// It guarantees:
//
//  1. A response is used only if it belongs to the request and has the form of its version (L-76 to L-78).
//  2. There are three kinds of errors: CallError, to which the failure policy applies (L-83, L-84); a denial, with the
//     webhook's Status (L-81); and errors of the request, to which no failure policy applies (L-60, L-85).
//  3. It does not read configurations: its callers pass the webhooks.
package webhook
