// Package webhook calls webhooks over HTTP.
//
// It guarantees:
//
//  1. A call ends with its context, or earlier after MaxTimeout. Calls do not wait for each other, with the exception
//     of guarantee 5.
//  2. A webhook is trusted by its CA bundle, or by the system's certificate authorities if it has none. Its certificate
//     must have the name of its URL, or <service>.<namespace>.svc.
//  3. Errors have client-go's messages (L-84), so that operators can search for them.
//  4. Connections are kept for webhooks with the same configuration, for a limited number of configurations.
//  5. A response has at most MaxBody bytes. At most eight responses of more than 1 MiB are read or used at the same
//     time. The others wait, at most until their calls end.
//
// k8s.io/apiserver/pkg/util/webhook does the same with a client of client-go. It would make the binary 0.3 MB larger,
// for kubeconfigs and their plugins.
package webhook
