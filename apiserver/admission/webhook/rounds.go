package webhook

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// Rounds has the state that the first round of a request's mutations passes on to the second (L-53 to L-57, M-66). K
// identifies a mutation: a webhook, or a policy with its binding and param. The zero value is ready to use.
type Rounds[K comparable] struct {
	// Again is set when a mutation has changed the object. Then all mutations run once more.
	Again bool
	// called are the repeatable mutations that have run since the last change. marked are those that ran before a
	// change.
	called, marked map[K]bool
	// left is the state of the object at the end of the last round.
	left runtime.Object
}

// Begin starts a round. state returns a copy of the object in its current state.
func (r *Rounds[K]) Begin(round int, state func() runtime.Object) {
	if r.called == nil {
		r.called, r.marked = map[K]bool{}, map[K]bool{}
	}
	if round > 0 && len(r.called) > 0 && !apiequality.Semantic.DeepEqual(state(), r.left) {
		r.mark()
	}
}

// End ends a round, and records the state of the object.
func (r *Rounds[K]) End(state func() runtime.Object) {
	if r.left = nil; len(r.called) > 0 {
		r.left = state()
	}
}

// Skips reports whether k does not run in a round. The second round runs only the marked mutations.
func (r *Rounds[K]) Skips(round int, k K) bool { return round > 0 && !r.marked[k] }

// Changed records that the object was changed.
func (r *Rounds[K]) Changed() {
	r.Again = true
	r.mark()
}

// Called records that k has run, and may be repeated.
func (r *Rounds[K]) Called(k K) { r.called[k] = true }

// mark marks the mutations that ran before a change.
func (r *Rounds[K]) mark() {
	for k := range r.called {
		r.marked[k] = true
	}
	clear(r.called)
}
