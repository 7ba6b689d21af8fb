package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestEachRequestHasItsCause: each request has its reason, and the owner that it is about.
func TestEachRequestHasItsCause(t *testing.T) {
	const gone, foreground, orphan, never = "gone", "foreground", "orphan", "never"
	for _, c := range []struct {
		name   string
		owners []string // uids; their owners' names are the same
		want   string
	}{
		{"deleted in the background", []string{gone}, "delete Background: background gone"},
		{"never there", []string{never}, "delete Background: absent owner never"},
		{"one was there", []string{never, gone}, "delete Background: background gone"},
		{"deleted in the foreground", []string{never, gone, foreground}, "delete Background: foreground foreground"},
		{"orphaned", []string{gone, foreground, orphan}, "remove: orphan orphan"},
		{"kept by another owner", []string{"solid", never, gone}, "remove: background gone"},
		{"kept", []string{"solid"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := causes(c.owners); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

// causes returns the requests for an object with these owners after all of them have changed as their names say.
func causes(owners []string) string {
	g := New(Config{Limit: 1})
	g.Step(Kinds{Table: []Kind{
		{APIVersion: "v1", Kind: "ConfigMap", Collection: "configmaps", Namespaced: true, Preferred: true},
	}})
	g.Step(Loaded{})
	revision := int64(0)
	observe := func(name string, flags Flags, owners ...string) []Action {
		revision++
		o := Object{
			Key: Key{"configmaps", "ns", name}, APIVersion: "v1", Kind: "ConfigMap", UID: name, Revision: revision, Flags: flags,
		}
		for _, uid := range owners {
			o.Owners = append(o.Owners, Owner{APIVersion: "v1", Kind: "ConfigMap", Name: uid, UID: uid})
		}
		return g.Step(Observed{Object: o})
	}
	// The request for this object takes the only slot, so the others are decided on after all changes.
	todo := slices.Clone(observe("blocker", 0, "absent"))
	for _, name := range []string{"solid", "gone", "foreground", "orphan"} {
		observe(name, 0)
	}
	observe("dependent", 0, owners...)
	observe("foreground", Deleting|ForegroundFinalizer)
	observe("orphan", Deleting|OrphanFinalizer)
	revision++
	g.Step(Gone{Key: Key{"configmaps", "ns", "gone"}})
	var words []string
	for len(todo) > 0 {
		a := todo[0]
		todo = append(todo[1:], g.Step(Result{Ticket: ticketOf(a), Outcome: Done})...)
		switch a := a.(type) {
		case Delete:
			if a.Object.Name == "dependent" {
				words = append(words, fmt.Sprintf("delete %s: %s %s", a.Policy, a.Cause.Reason, a.Cause.Owner.Name))
			}
		case RemoveOwners:
			words = append(words, fmt.Sprintf("remove: %s %s", a.Cause.Reason, a.Cause.Owner.Name))
		}
	}
	return strings.Join(words, "; ")
}
