// Package audit records requests by a policy, as kube-apiserver's audit log does. The policy's rules, the events and
// the backends are those of k8s.io/apiserver.
//
// It guarantees:
//
//  1. The first rule of the policy that matches a request decides how it is recorded. Rules match the user before
//     impersonation (N-10, N-11).
//  2. Without a policy or without a log there is no Log, and every Record is nil. A nil Record ignores every call, and
//     allocates nothing.
//  3. The events of a request are written in the order of their stages. In the blocking modes each event is written
//     before the request continues. In the mode batch, up to Options.Batch.BufferSize events wait in a queue. Further
//     events are dropped and counted.
//  4. Every object in an event is JSON, so that no event is lost because of a client's input.
//  5. The methods of a Record may be called from any goroutine.
//  6. Rules match requests of the process itself like the same requests of a client (BeginOwn).
//
// Objects, including Secrets, are recorded in plain text, unless the policy excludes them. There is no webhook backend.
package audit
