package invalid

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Each iterates over a list as range does, and stops when errs has as many errors as a response contains: a client may
// send a million items, each with errors. The response stays the same if the loop appends its errors to errs and
// nothing is inserted before them. A nil errs never stops it.
func Each[S ~[]E, E any](list S, errs *field.ErrorList) iter.Seq2[int, E] {
	return func(yield func(int, E) bool) {
		for i, item := range list {
			if errs != nil && Enough(*errs) || !yield(i, item) {
				return
			}
		}
	}
}
