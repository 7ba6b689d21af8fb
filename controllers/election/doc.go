// Package election lets one of several servers over the same etcd run the controllers: the one that holds a Lease, as
// kube-controller-manager's instances do (client-go tools/leaderelection).
//
// It guarantees:
//
//  1. The leader's work runs while this candidate holds the lease, and has ended before the candidate releases the
//     lease or tries to acquire it again.
//  2. A leader whose lease could not be renewed for Options.RenewDeadline, or that sees another holder, stops its work.
//     Others wait for Options.Duration, which is longer. So two leaders overlap only if the first one's clock or
//     requests stall for the difference.
//  3. Clocks of different machines need not agree: the age of a lease is measured from the time at which this process
//     saw it change.
//  4. A released lease is free at once. An abandoned one is free after its duration, or at once with Options.Seize.
//  5. Run returns when its context is done, after the work has returned and the lease was released.
//
// client-go's tools/leaderelection is not used: it links all informers and typed clients, and releases the lease before
// the leader's work has ended.
//
// record.go has the decisions, election.go executes them.
package election
