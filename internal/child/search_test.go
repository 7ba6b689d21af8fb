package child

import (
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/faults"
)

// TestSearch: each fault of the learned requests is tried once, and is reported if the result is different, as far as
// the objects are known.
func TestSearch(t *testing.T) {
	runs := 0
	run := func(p faults.Plan) (o Outcome, _ error) {
		runs++
		set := faults.New()
		if _, _, err := set.Add(p); err != nil {
			t.Fatal(err)
		}
		o.Objects = map[string]string{"secrets a/x-bcdfg": "Pod/p", "hashes " + strings.Repeat("ab", 8+runs): "",
			"a.far x": "", "secrets of-bcdf" + "bcdfghjklmn"[runs:][:1] + "/x": "Pod/q-zzzzz,Pod/p"}
		for _, verb := range []string{"create", "delete", "get"} {
			shot, _ := set.Decide(&faults.Request{Verb: verb, Resource: "pods", Name: "p", UserAgent: "me/1"}, time.Time{})
			switch {
			case shot == nil || shot.Delay > 0:
			case verb == "create" && shot.LoseAnswer:
				o.Objects["secrets a/x-22222"] = "Pod/p"
			case verb == "create":
				delete(o.Objects, "secrets a/x-bcdfg")
			case verb == "delete" && shot.LoseAnswer:
				o.Objects["secrets a/x-bcdfg"] = ""
			case verb == "get" && shot.Error == "NotFound":
				delete(o.Objects, "a.far x")
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
		"missing: secrets a/x-* (0 instead of 1), with", `orphaned: secrets a/x-* (owners [""] instead of ["Pod/p"]), with`,
		"exit code 3, with", "the objects of *.far were not always compared: gone\n",
		"5 of 7 perturbations change the result; 0 were not tried",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}
