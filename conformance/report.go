package conformance

import (
	"encoding/json"
	"slices"
	"time"
)

// Outcome is what became of a case.
type Outcome string

const (
	// Passed is a sentence that was found true.
	Passed Outcome = "passed"
	// Failed is a sentence that was found false.
	Failed Outcome = "failed"
	// Skipped is a case that was left out by request, or that the user has no rights for.
	Skipped Outcome = "skipped"
	// NotRun is a case that was interrupted, or not begun.
	NotRun Outcome = "not run"
)

// Result is a case and what became of it.
type Result struct {
	Case
	Outcome Outcome
	// Reason is why a case was skipped or not run.
	Reason  string
	Seconds float64
	// Failure is there if the case failed.
	Failure *Failure
}

// Report is a run: the results in the order of the cases, then those left out.
type Report struct {
	Server  string    `json:"server"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// Seconds are those of the run without the cleaning up at its end.
	Seconds float64 `json:"seconds"`
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	NotRun  int     `json:"notRun"`
	// Collector is what is wrong with the collector, if it gave no sign of life.
	Collector string `json:"collector,omitempty"`
	// Namespaces is the same of the controller that empties namespaces.
	Namespaces string `json:"namespaces,omitempty"`
	// Rights is what the user may not do, for which cases are skipped.
	Rights  string   `json:"rights,omitempty"`
	Results []Result `json:"results"`
	// LeftBehind are the objects that weren't gone when the time for cleaning up was over.
	LeftBehind []string `json:"leftBehind,omitempty"`
}

func (r *Report) count() {
	for _, res := range r.Results {
		switch res.Outcome {
		case Passed:
			r.Passed++
		case Failed:
			r.Failed++
		case Skipped:
			r.Skipped++
		case NotRun:
			r.NotRun++
		}
	}
}

// ended takes a case from the running ones.
func (p *Progress) ended(name string, o Outcome) {
	p.Running = slices.DeleteFunc(slices.Clone(p.Running), func(n string) bool { return n == name })
	p.Done++
	if o == Failed {
		p.Failed++
	}
}

// described is the part of a case that is data.
type described struct {
	Name   string   `json:"name"`
	Rules  []string `json:"rules"`
	Proves string   `json:"proves"`
	Docs   string   `json:"docs"`
	Needs  string   `json:"needs,omitempty"`
}

func describedBy(c Case) described {
	return described{c.Name, c.Rules, c.Proves, c.Docs, c.Needs.String()}
}

// MarshalJSON leaves out what runs.
func (c Case) MarshalJSON() ([]byte, error) { return json.Marshal(describedBy(c)) }

// MarshalJSON is flat.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		described
		Outcome Outcome  `json:"outcome"`
		Reason  string   `json:"reason,omitempty"`
		Seconds float64  `json:"seconds"`
		Failure *Failure `json:"failure,omitempty"`
	}{describedBy(r.Case), r.Outcome, r.Reason, r.Seconds, r.Failure})
}
