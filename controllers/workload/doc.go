// Package workload is the seam between what a workload controller decides and how that is carried out. A
// controller is a value of type Controller: which objects it is for, whose changes matter to it, and a pure
// function that looks at one state of the store and returns a Plan. Run does the rest: it follows what
// happens, reads the View for each pass, sends the plan's requests, records its events, and comes back after
// failures.
//
// It guarantees:
//
//  1. Passes over one object never overlap; Options.Workers passes run at once at most. A pass follows
//     every change of the object, of what it controls, of what it would adopt, and what Controller.Wake
//     says; nothing is polled.
//  2. A View is one state of the store, the same for all that is read from it, and never older than any write
//     that was acknowledged before the pass began: a pass sees every write that an earlier one made.
//     That is what upstream's controllers have expectations for (K pkg/controller/controller_utils.go:
//     ControllerExpectations); there are none here.
//  3. What is read costs as much as is returned: dependents are found by their owner's uid, free objects by
//     their namespace. Objects are decoded once for each of their states, and shared: whoever changes one
//     copies it before.
//  4. Requests are like anybody's. Update and Status hold only for the state that was viewed, Delete only for the
//     uid. If something changed meanwhile the plan ends there, and another is made on the newer state.
//  5. Of one pass at most 32 requests are under way. Creates begin with one, and double while all is well.
//  6. If an action fails, the plan ends after its stage; Decide is asked once more, with View.Failed, so that
//     the status can say so; then the object waits for its back-off, from 5 ms up to 1000 s. No other waits
//     for it.
//  7. What can't be created or bound because its namespace is being deleted isn't tried again (I-18).
//  8. Run returns when its context is done, after everything that it started has returned. At rest it
//     is three goroutines that wait.
//
// To write a controller: put what it decides into a package of its own below controllers/, as functions over
// k8s.io/api types that get the time as an argument, and a function New() workload.Controller. Read with Get,
// Controlled and Free (by Go type: workload.Controlled[*corev1.Pod](v, uid)), choose by Claim, and return
// Create, Update and Delete in Plan.Do. Neighbours of one type run side by side: whatever must come one after
// the other is left to the next pass, which follows at once, as each write causes one. The status goes to
// Plan.Status, as a copy of the object, only if it differs from what is stored. Time that passes is Plan.Again.
// A controller that is being deleted still reports its status, and does nothing else (I-16).
//
// Its scenarios are tested with package workloadtest, which is a store in memory that carries plans out and
// prints them; loopback.Workloads is the API of a server, which cmd/kubecascade/workloads.go gives to each
// controller with its service account.
//
// To read the source: resource.go, view.go and plan.go are the vocabulary; claim.go is adoption; controller.go,
// wake.go (which objects), pass.go and stage.go (how a plan is carried out) are the engine.
package workload
