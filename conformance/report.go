package conformance

import (
	"slices"
	"time"
)

// Outcome is the result of a case.
type Outcome string

const (
	// Passed: the statement is true.
	Passed Outcome = "passed"
	// Failed: the statement is false.
	Failed Outcome = "failed"
	// Skipped: the case was excluded, or the user lacks permissions for it.
	Skipped Outcome = "skipped"
	// NotRun: the case was interrupted, or did not begin.
	NotRun Outcome = "not run"
)

// Result is a case and its outcome.
type Result struct {
	Case
	Outcome Outcome `json:"outcome"`
	// Reason is the reason why the case was skipped or not run.
	Reason  string  `json:"reason,omitempty"`
	Seconds float64 `json:"seconds"`
	// Failure is set if the case failed.
	Failure *Failure `json:"failure,omitempty"`
}

// Report is the result of a run: the results in the order of the cases, then the excluded cases.
type Report struct {
	Server  string    `json:"server"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// Seconds is the duration of the run without the cleanup.
	Seconds float64 `json:"seconds"`
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	NotRun  int     `json:"notRun"`
	// Collector is the reason why the collector does not work, if its probe has failed.
	Collector string `json:"collector,omitempty"`
	// Namespaces is the same for the namespace controller.
	Namespaces string `json:"namespaces,omitempty"`
	// Jobs is the same for the Job controller.
	Jobs string `json:"jobs,omitempty"`
	// Rights are the user's missing permissions. Cases that need them are skipped.
	Rights  string   `json:"rights,omitempty"`
	Results []Result `json:"results"`
	// LeftBehind are the objects that still existed at the end of the cleanup.
	LeftBehind []string `json:"leftBehind,omitempty"`
}

func (r *Report) count() {
	counts := map[Outcome]*int{Passed: &r.Passed, Failed: &r.Failed, Skipped: &r.Skipped, NotRun: &r.NotRun}
	for _, res := range r.Results {
		*counts[res.Outcome]++
	}
}

// ended removes a case from the running ones, and counts it.
func (p *Progress) ended(name string, o Outcome) {
	p.Running = slices.DeleteFunc(slices.Clone(p.Running), func(n string) bool { return n == name })
	p.Done++
	if o == Failed {
		p.Failed++
	}
}
