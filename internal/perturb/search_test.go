package perturb

import (
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/faults"
)

// TestEachFaultIsTriedOnce: each fault of the learned requests is tried once, and is reported if the result is
// different, as far as the objects are known.
func TestEachFaultIsTriedOnce(t *testing.T) {
	runs := 0
	run := func(p faults.Plan) (o Outcome, _ error) {
		runs++
		set := faults.New()
		if _, _, err := set.Add(p); err != nil {
			t.Fatal(err)
		}
		secret, far := [2]string{"secrets", "a/x-bcdfg"}, [2]string{"a.far", "x"}
		o.Objects = map[[2]string]string{secret: "Pod/p", {"hashes", strings.Repeat("ab", 8+runs)}: "", far: "",
			{"secrets", "of-bcdf" + "bcdfghjklmn"[runs:][:1] + "/x"}: "Pod/q-zzzzz,Pod/p"}
		for _, verb := range []string{"create", "delete", "get"} {
			q := &faults.Request{Verb: verb, Resource: "pods", Name: "p", UserAgent: "me/1"}
			shot, _ := set.Decide(q, time.Time{})
			switch {
			case shot == nil || shot.Delay > 0:
			case verb == "create" && shot.LoseAnswer:
				o.Objects[[2]string{"secrets", "a/x-22222"}] = "Pod/p"
			case verb == "create":
				delete(o.Objects, secret)
			case verb == "delete" && shot.LoseAnswer:
				o.Objects[secret] = ""
			case verb == "get" && shot.Error == "NotFound":
				delete(o.Objects, far)
				o.Unknown = map[string]string{"*.far": "gone"}
			case verb == "delete":
				o.Exit = "exit code 3"
			}
		}
		o.Fired = set.Report().Fired
		return o, nil
	}
	var out strings.Builder
	found, err := Search(&out, 1, faults.Plan{}, run, func() bool { return false })
	if err != nil || found != 5 || runs != 2+7 {
		t.Errorf("%d findings of %d runs, error %v:\n%s", found, runs, err, out.String())
	}
	for _, want := range []string{
		"left: secrets a/x-* (2 instead of 1), with this plan:\nrules:\n- effect:\n    loseAnswer: true\n  match:\n",
		"missing: secrets a/x-* (0 instead of 1), with",
		`orphaned: secrets a/x-* (owners [""] instead of ["Pod/p"]), with`,
		"exit code 3, with", "the objects of *.far were not always compared: gone\n",
		"5 of 7 perturbations change the result; 0 were not tried",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

// TestSearchHitsTheLearnedRequest: a rule also matches requests with a name, subresource or other namespace if it has
// none of these, and those of clients with longer names. The fault meets the learned request even so.
func TestSearchHitsTheLearnedRequest(t *testing.T) {
	requests := []faults.Request{
		{Verb: "create", Resource: "pods", Name: "p", UserAgent: "me/1"},
		{Verb: "create", Resource: "pods", Name: "p", Subresource: "binding", UserAgent: "me/1"},
		{Verb: "create", Resource: "pods", UserAgent: "menu"},
		{Verb: "create", Resource: "pods", UserAgent: "me"},
		{Verb: "create", Group: "x", Resource: "pods", Namespace: "a", UserAgent: "me"},
		{Verb: "list", Resource: "pods", Namespace: "a"},
		{Verb: "list", Resource: "pods", Namespace: "a", Stale: true},
		{Verb: "list", Resource: "pods", Stale: true},
	}
	met := map[string]int{}
	run := func(p faults.Plan) (o Outcome, _ error) {
		set := faults.New()
		_, _, _ = set.Add(p)
		for i := range requests {
			if shot, _ := set.Decide(&requests[i], time.Time{}); shot != nil && shot.Delay == 0 {
				met[fmt.Sprint(i, " ", shot.Name())]++
			}
		}
		o.Fired = set.Report().Fired
		if o.Exit = "unrelated"; len(o.Fired) != 1 {
			o.Exit = ""
		}
		return o, nil
	}
	found, err := Search(io.Discard, 1, faults.Plan{}, run, func() bool { return false })
	want := map[string]int{"5 error InternalError": 1, "6 error InternalError": 1, "6 staleReads": 3,
		"7 error InternalError": 1, "7 staleReads": 3}
	for i := range 5 {
		want[fmt.Sprint(i, " error InternalError")], want[fmt.Sprint(i, " loseAnswer")] = 1, 1
	}
	if err != nil || found != 19 || !maps.Equal(met, want) {
		t.Errorf("%d findings, error %v, met %v, want %v", found, err, met, want)
	}
}
