// Package webhook calls webhooks over HTTP.
//
// It guarantees:
//
//  1. A call ends with its context, at the latest after MaxTimeout. Calls do not wait for each other, except by 5.
//  2. A webhook is trusted by its CA bundle, or by the system's certificate authorities if it has none. The name in its
//     certificate is that of its URL, or <service>.<namespace>.svc.
//  3. Errors have client-go's messages (L-84), so that operators can search for them.
//  4. Connections are kept for webhooks with the same configuration, for a bounded number of configurations.
//  5. A response has at most MaxBody bytes. Of responses of more than 1 MiB at most eight are read or used at a time.
//     The others wait until their calls end.
//
// k8s.io/apiserver/pkg/util/webhook does the same with a client of client-go. It would link 0.3 MB more, for
// kubeconfigs and their plugins.
package webhook
