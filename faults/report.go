package faults

import "time"

// Report has the plans in force, and the faults that were injected.
type Report struct {
	Plans []PlanReport `json:"plans"`
	// Fired are the last faults, also those of removed plans. Total is the number of all.
	Fired []Fired `json:"fired"`
	Total int     `json:"total"`
}

// PlanReport has the rules of a plan.
type PlanReport struct {
	Plan  int          `json:"plan"`
	Rules []RuleReport `json:"rules"`
}

// RuleReport has the numbers of requests that a rule has matched, and of those that met its effect.
type RuleReport struct {
	Rule    Rule `json:"rule"`
	Matched int  `json:"matched"`
	Fired   int  `json:"fired"`
}

// Fired is an injected fault.
type Fired struct {
	Time    time.Time `json:"time"`
	Plan    int       `json:"plan"`
	Rule    int       `json:"rule"`
	Effect  string    `json:"effect"`
	Request Request   `json:"request"`
}

// Report returns a copy of the present state.
func (s *Set) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Plans: []PlanReport{}, Fired: append([]Fired{}, s.fired...), Total: s.total}
	for _, p := range s.state.Load().plans {
		one := PlanReport{Plan: p.number, Rules: make([]RuleReport, len(p.rules))}
		for i := range p.rules {
			one.Rules[i] = p.rules[i].RuleReport
		}
		r.Plans = append(r.Plans, one)
	}
	return r
}
