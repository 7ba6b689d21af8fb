package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"sigs.k8s.io/yaml"
)

// TestScenarios plays the files of testdata, each with one Set. Their commands:
//
//	add                               adds the plan in YAML or JSON, prints it as JSON, or the error
//	request [n=N] [after=PLAN]        prints what N requests in YAML meet; each has the next revision
//	remove plan=N                     removes a plan, or all for 0
//	advance seconds=N
//	report                            prints the counters and the injected faults
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s, now, revision := New(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), int64(100)
		var changed <-chan struct{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			switch d.Cmd {
			case "add":
				p, err := Parse([]byte(d.Input))
				if err == nil {
					_, _, err = s.Add(p)
				}
				if err != nil {
					return err.Error() + "\n"
				}
				data, _ := json.Marshal(p)
				fmt.Fprintf(&out, "%s\n", data)
			case "request":
				q := Request{Verb: "get", Resource: "configmaps", User: "admin", UserAgent: "manager/v1"}
				if err := yaml.Unmarshal([]byte(d.Input), &q); err != nil {
					t.Fatal(err)
				}
				n := 1
				d.MaybeScanArgs(t, "n", &n)
				d.MaybeScanArgs(t, "after", &q.After)
				for range n {
					revision++
					q.Revision = revision
					shot, newest := s.Decide(&q, now)
					switch {
					case shot == nil:
						fmt.Fprintf(&out, "- (decided up to plan %d)\n", newest)
					case shot.Revision > 0:
						fmt.Fprintf(&out, "%s at %d of %d\n", shot.Where, shot.Revision, revision)
					default:
						fmt.Fprintln(&out, shot.Where)
					}
				}
			case "remove":
				var n int
				d.ScanArgs(t, "plan", &n)
				fmt.Fprintln(&out, s.Remove(n))
			case "advance":
				var seconds int
				d.ScanArgs(t, "seconds", &seconds)
				now = now.Add(time.Duration(seconds) * time.Second)
			case "report":
				for _, r := range s.Report().Rules {
					fmt.Fprintf(&out, "%s: matched %d, fired %d\n", r.Where(), r.Matched, r.Fired)
				}
				for _, f := range s.Report().Fired {
					data, _ := json.Marshal(f)
					fmt.Fprintf(&out, "%s\n", data)
				}
			default:
				t.Fatalf("unknown command %q", d.Cmd)
			}
			isChange := d.Cmd == "add" || d.Cmd == "remove" && out.String() != "0\n"
			if now := s.Changed(); changed != nil && (now != changed) != isChange {
				t.Errorf("%s: after %s the state has changed: %v", d.Pos, d.Cmd, now != changed)
			}
			changed = s.Changed()
			return out.String()
		})
	})
}

// TestRulesAndFiredFaultsAreBounded: the plans in force have at most MaxRules rules, and the last MaxFired faults are
// kept until Reset.
func TestRulesAndFiredFaultsAreBounded(t *testing.T) {
	s, full := New(), Plan{Rules: make([]Rule, MaxRules)}
	for i := range full.Rules {
		full.Rules[i].Effect.Close = true
	}
	_, remove, err := s.Add(full)
	if err != nil {
		t.Fatal(err)
	}
	one := Plan{Rules: full.Rules[:1]}
	if _, _, err := s.Add(one); err == nil || !strings.Contains(err.Error(), "1, and 10000 in other plans") {
		t.Errorf("one rule too many: %v", err)
	}
	remove()
	remove()
	if _, _, err := s.Add(Plan{Rules: append(full.Rules, one.Rules...)}); err == nil {
		t.Error("a plan with too many rules was added")
	}
	if _, _, err := s.Add(one); err != nil {
		t.Fatal(err)
	}
	agent := strings.Repeat("x", 1<<20)
	for _, match := range []string{"userAgent: " + agent, "verbs: [" + strings.Repeat("get, ", 1000) + "]"} {
		if _, err := Parse([]byte("rules: [{match: {" + match + "}, effect: {close: true}}]")); err == nil {
			t.Errorf("a rule of %d bytes was accepted", len(match))
		}
	}
	for range 2*s.MaxFired + 1 {
		if shot, _ := s.Decide(&Request{Verb: "get", UserAgent: agent}, time.Time{}); shot == nil {
			t.Fatal("no fault")
		}
	}
	r := s.Report()
	if n := s.MaxFired; len(r.Fired) != n || r.Total != 2*n+1 || len(r.Fired[0].Request.UserAgent) > 300 {
		t.Errorf("kept %d of %d faults, with %d bytes of a client", len(r.Fired), r.Total, len(r.Fired[0].Request.UserAgent))
	}
	s.Reset()
	if r = s.Report(); len(r.Rules)+len(r.Fired)+r.Total != 0 {
		t.Errorf("after the reset: %+v", r)
	}
}

// BenchmarkDecide measures a request that no rule selects, for the numbers of rules in docs/faults.md.
func BenchmarkDecide(b *testing.B) {
	rule := Rule{Match: Match{Name: "other"}, Effect: Effect{Close: true}}
	for _, n := range []int{0, 1, MaxRules} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, q := New(), Request{Verb: "get", Resource: "pods", Name: "p"}
			_, _, _ = s.Add(Plan{Rules: slices.Repeat([]Rule{rule}, n)}) // an error for 0
			for b.Loop() {
				if !s.Idle() {
					s.Decide(&q, time.Time{})
				}
			}
		})
	}
}
