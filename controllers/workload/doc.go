// Package workload separates the decisions of workload controllers from their execution. A controller is a value of
// type Controller: the type of its objects, the changes that trigger it, and a pure function from one state of the
// store to a Plan. Run does the rest: it follows changes, reads the View for each pass, sends the plan's requests,
// records its events, and retries after failures.
//
// It guarantees:
//
//  1. Passes over one object never overlap; at most Options.Workers passes run at a time. A pass follows every change
//     of the object, of its dependents and of objects that it would adopt, and every change for which Controller.Wake
//     returns its key; nothing is polled.
//  2. A View is one state of the store, the same for all reads, and at least as new as every write that was
//     acknowledged before the pass began: so a pass sees every write of earlier passes. Upstream's controllers have
//     expectations for that purpose (K pkg/controller/controller_utils.go: ControllerExpectations); there are none
//     here. An object of a Sparse resource may be newer than the rest.
//  3. A read costs as much as it returns: dependents are found by their owner's uid, free objects by their namespace.
//     Decoded objects are shared: they must be copied before they are changed.
//  4. Requests are sent as by any client. Update and Status require the state of the view, Delete only the uid. After a
//     conflict the plan ends, and another is made from the newer state.
//  5. At most 32 requests of one pass are in flight. Creates begin with one, and double while they succeed.
//  6. If an action fails, the plan ends after its stage. Decide is called once more, with View.Failed, so that the
//     status can report the failure. Then the object waits for its back-off, from 5 ms up to Controller.Most. No other
//     object waits for it.
//  7. A create or bind that fails because its namespace is being deleted isn't retried (I-18).
//  8. A decision that takes long, or that needs the answers to requests (Plan.Slow), locks no other controller out.
//  9. Run returns when its context is done, after everything that it started has returned. An idle controller has three
//     goroutines, which wait.
//
// To write a controller: put its decisions into a package of its own below controllers/, as functions over k8s.io/api
// types that get the time as an argument, and a function New() workload.Controller. Read with Get, Controlled and Free
// (by Go type: workload.Controlled[*corev1.Pod](v, uid)), adopt and release with Claim, and return Create, Update and
// Delete in Plan.Do. Adjacent actions of one type run concurrently: leave actions that must follow them to the next
// pass, which each write causes at once. Return the status in Plan.Status, as a copy of the object, only if it differs
// from the stored one. Plan.Again requests a pass at a later time. A controller object that is being deleted still
// reports its status, and does nothing else (I-16).
//
// Test its scenarios with package workloadtest, a store in memory that executes and prints plans. loopback.Client is
// the API of a server, which package controllers gives to each controller with its service account.
//
// To read the source: resource.go, view.go and plan.go have the types; claim.go is adoption; controller.go, wake.go
// (which objects need a pass), pass.go and stage.go (the execution of plans) are the engine; recorder.go and
// correlate.go record events; revision.go keeps the history of templates in ControllerRevisions.
package workload
