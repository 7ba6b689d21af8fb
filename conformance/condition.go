package conformance

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Condition is something that an object can be.
type Condition struct {
	// Text continues "expected configmap x to".
	Text string
	// Gone is whether an object that is gone can meet it: others are lost with the object.
	Gone bool
	// Met reports whether the object is in the state; the object is nil if it is gone.
	Met func(*Object) bool
}

func present(text string, met func(*Object) bool) Condition {
	return Condition{Text: text, Met: func(o *Object) bool { return o != nil && met(o) }}
}

var (
	// Gone is an object that isn't there, or has given its name to another.
	Gone = Condition{Text: "be gone", Gone: true, Met: func(o *Object) bool { return o == nil }}
	// Present is an object that is there, being deleted or not.
	Present = present("be there", func(*Object) bool { return true })
	// Alive is an object that is not being deleted.
	Alive = present("be there without deletionTimestamp", func(o *Object) bool { return o.GetDeletionTimestamp() == nil })
	// Terminating is an object that has been deleted and is still there.
	Terminating = present("be there with a deletionTimestamp", func(o *Object) bool {
		return o.GetDeletionTimestamp() != nil
	})
)

// HasFinalizers is an object with exactly these finalizers, in any order.
func HasFinalizers(names ...string) Condition {
	want := slices.Sorted(slices.Values(names))
	text := "have no finalizers"
	if len(want) > 0 {
		text = "have exactly the finalizers " + strings.Join(names, ", ")
	}
	return present(text, func(o *Object) bool {
		return slices.Equal(slices.Sorted(slices.Values(o.GetFinalizers())), want)
	})
}

// HasOwners is an object whose references name exactly these objects, in any order.
func HasOwners(owners ...*Object) Condition {
	text := "have no ownerReferences"
	var want []types.UID
	var names []string
	for _, o := range owners {
		want, names = append(want, o.GetUID()), append(names, o.String())
	}
	if len(owners) > 0 {
		text = "have exactly the owners " + strings.Join(names, ", ")
	}
	slices.Sort(want)
	return present(text, func(o *Object) bool {
		var have []types.UID
		for _, r := range o.GetOwnerReferences() {
			have = append(have, r.UID)
		}
		slices.Sort(have)
		return slices.Equal(have, want)
	})
}

// Unchanged is an object at the resource version that it was seen at.
func Unchanged(as *Object) Condition {
	return present("be unchanged since resource version "+as.GetResourceVersion(), func(o *Object) bool {
		return o.GetResourceVersion() == as.GetResourceVersion()
	})
}

// Has is an object that a case has a question about.
func Has(text string, met func(*Object) bool) Condition { return present(text, met) }

// unmet is the first condition that an object doesn't meet.
func unmet(o *Object, conditions []Condition) *Condition {
	for i := range conditions {
		if !conditions[i].Met(o) {
			return &conditions[i]
		}
	}
	return nil
}

func expected(o *Object, conditions []Condition) string {
	var texts []string
	for _, c := range conditions {
		texts = append(texts, c.Text)
	}
	return fmt.Sprintf("%s to %s", o, strings.Join(texts, ", and to "))
}
