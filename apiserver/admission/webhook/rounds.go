package webhook

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// Rounds remember what the first round of a request's mutations leaves for the second (L-53 to L-57, M-66). K
// identifies what is called or evaluated: a webhook, or a policy with its binding and param. The zero value is ready to
// use.
type Rounds[K comparable] struct {
	// Again is set when something that was called has changed the object: all mutations run once more.
	Again bool
	// called are those that may be called again, and were called after the last change; marked are those after whose
	// call something else has changed the object.
	called, marked map[K]bool
	// left is the state in which the last round has left the object.
	left runtime.Object
}

// Begin begins a round. state returns a copy of the object as it is now.
func (r *Rounds[K]) Begin(round int, state func() runtime.Object) {
	if r.called == nil {
		r.called, r.marked = map[K]bool{}, map[K]bool{}
	}
	if round > 0 && len(r.called) > 0 && !apiequality.Semantic.DeepEqual(state(), r.left) {
		r.mark()
	}
}

// End ends a round.
func (r *Rounds[K]) End(state func() runtime.Object) {
	if r.left = nil; len(r.called) > 0 {
		r.left = state()
	}
}

// Skips reports whether k is not called in a round: in the second one only those are that are marked.
func (r *Rounds[K]) Skips(round int, k K) bool { return round > 0 && !r.marked[k] }

// Changed records that the object was changed.
func (r *Rounds[K]) Changed() {
	r.Again = true
	r.mark()
}

// Called records that k was called, and may be called again.
func (r *Rounds[K]) Called(k K) { r.called[k] = true }

// mark marks those that were called before a change.
func (r *Rounds[K]) mark() {
	for k := range r.called {
		r.marked[k] = true
	}
	clear(r.called)
}
