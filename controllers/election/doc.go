// Package election lets one of several servers over the same etcd run the controllers: the one that
// holds a Lease, as kube-controller-manager's instances do (client-go tools/leaderelection).
//
// It guarantees:
//
//  1. What is led runs while this candidate holds the lease, and has ended before the candidate gives
//     the lease back or tries for it again.
//  2. A leader whose lease could not be renewed for Options.RenewDeadline, or that sees another
//     holder, tells what it leads to end. As others wait for Options.Duration, which is longer, two
//     leaders meet only if the first one's clock or requests stall for the difference.
//  3. Clocks of different machines need not agree: how long a lease is old is measured from when
//     this process saw it change.
//  4. A lease that its holder gave back is free at once; one that was left behind is free after the
//     duration that stands in it, or at once with Options.Seize.
//  5. Run returns when its context is done, after what is led has returned and the lease was given back.
//
// Own code elects: client-go's tools/leaderelection links all informers and typed clients, and gives the lease back
// before what is led has ended.
//
// What is decided is in record.go, election.go carries it out.
package election
