package objecttest

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Quick fails the test for each function that takes more than 15 seconds.
func Quick(t *testing.T, finds map[string]func() field.ErrorList) {
	t.Helper()
	for what, find := range finds {
		start := time.Now()
		find()
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%s: %v", what, took)
		} else {
			t.Log(what, took)
		}
	}
}

// ListOf returns a list of n items.
func ListOf[T any](n int, item func(i int) T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = item(i)
	}
	return list
}
