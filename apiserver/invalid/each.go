package invalid

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Each iterates over a list as range does, and ends where errs are as many as an answer tells: a client may send a
// million items, each with errors. The errors that are told stay the same, as long as the loop appends to errs what it
// finds, and nothing is put in front of them. A nil errs never ends it.
func Each[S ~[]E, E any](list S, errs *field.ErrorList) iter.Seq2[int, E] {
	return func(yield func(int, E) bool) {
		for i, item := range list {
			if errs != nil && Enough(*errs) || !yield(i, item) {
				return
			}
		}
	}
}
