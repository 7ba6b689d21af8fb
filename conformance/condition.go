package conformance

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Condition is a state of an object.
type Condition struct {
	// Text completes "expected configmap x to ...".
	Text string
	// Gone reports whether an object that is gone can meet the condition. If not, Await fails when the object is gone.
	Gone bool
	// Met reports whether the object is in the state; the object is nil if it is gone.
	Met func(*Object) bool
}

// Has returns a condition that only an existing object can meet.
func Has(text string, met func(*Object) bool) Condition {
	return Condition{Text: text, Met: func(o *Object) bool { return o != nil && met(o) }}
}

var (
	// Gone: the object does not exist, or another object has its name.
	Gone = Condition{Text: "be gone", Gone: true, Met: func(o *Object) bool { return o == nil }}
	// Present: the object exists, whether or not it is being deleted.
	Present = Has("be there", func(*Object) bool { return true })
	// Alive: the object is not being deleted.
	Alive = Has("be there without deletionTimestamp", func(o *Object) bool { return o.GetDeletionTimestamp() == nil })
	// Terminating: the object is being deleted and still exists.
	Terminating = Has("be there with a deletionTimestamp", func(o *Object) bool {
		return o.GetDeletionTimestamp() != nil
	})
	// Established: the CustomResourceDefinition is served.
	Established = Has("be established", func(o *Object) bool { return ConditionStatus(o, "Established") == "True" })
)

// HasFinalizers: the object has exactly these finalizers, in any order.
func HasFinalizers(names ...string) Condition {
	want := slices.Sorted(slices.Values(names))
	text := "have no finalizers"
	if len(want) > 0 {
		text = "have exactly the finalizers " + strings.Join(names, ", ")
	}
	return Has(text, func(o *Object) bool {
		return slices.Equal(slices.Sorted(slices.Values(o.GetFinalizers())), want)
	})
}

// HasOwners: the object has references to exactly these objects, in any order.
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
	return Has(text, func(o *Object) bool {
		var have []types.UID
		for _, r := range o.GetOwnerReferences() {
			have = append(have, r.UID)
		}
		slices.Sort(have)
		return slices.Equal(have, want)
	})
}

// HasCondition: the object's status has a condition of this type with the status True.
func HasCondition(name string) Condition {
	return Has("have the condition "+name, func(o *Object) bool { return ConditionStatus(o, name) == "True" })
}

// ConditionStatus returns the status of a condition in an object's status, or an empty string if there is none.
func ConditionStatus(o *Object, name string) string { return conditionOf(o, name, "status") }

// ConditionMessage returns the message of a condition in an object's status, or an empty string if there is none.
func ConditionMessage(o *Object, name string) string { return conditionOf(o, name, "message") }

func conditionOf(o *Object, name, field string) string {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range all {
		if m, ok := c.(map[string]any); ok && m["type"] == name {
			text, _ := m[field].(string)
			return text
		}
	}
	return ""
}

// Unchanged: the object still has the resource version of as.
func Unchanged(as *Object) Condition {
	return Has("be unchanged since resource version "+as.GetResourceVersion(), func(o *Object) bool {
		return o.GetResourceVersion() == as.GetResourceVersion()
	})
}

// unmet returns the first condition that an object does not meet, or nil if it meets all.
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
