package faults

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Request is a request for a resource, as far as rules depend on it.
type Request struct {
	Verb         string `json:"verb"`
	Group        string `json:"group,omitempty"`
	Resource     string `json:"resource"`
	Subresource  string `json:"subresource,omitempty"`
	Namespace    string `json:"namespace,omitempty"`
	Name         string `json:"name,omitempty"`
	User         string `json:"user"`
	UserAgent    string `json:"userAgent,omitempty"`
	FieldManager string `json:"fieldManager,omitempty"`
	DryRun       bool   `json:"dryRun,omitempty"`
	// Controller is set for a request of a controller of this process. Open is set for a watch that is already open: it
	// meets only the effects on watches, of the plans with greater numbers than After.
	Controller bool `json:"controller,omitempty"`
	Open       bool `json:"open,omitempty"`
	After      int  `json:"-"`
	// Stale is set for a read that may be stale: resourceVersion=0.
	Stale bool `json:"stale,omitempty"`
	// Revision is the newest revision.
	Revision int64 `json:"revision"`
}

// maxText is the number of bytes of a client's string that are kept.
const maxText = 256

// cut returns a copy with short strings.
func (q *Request) cut() Request {
	c := *q
	for _, s := range []*string{&c.Namespace, &c.Name, &c.User, &c.UserAgent, &c.FieldManager} {
		if len(*s) > maxText {
			*s = strings.ToValidUTF8((*s)[:maxText], "") + "…"
		}
		*s = strings.Clone(*s)
	}
	return c
}

// rule is a Rule in force.
type rule struct {
	RuleReport
	random *rand.Rand
}

func (r *rule) matches(q *Request) bool {
	m, e := &r.Rule.Match, &r.Rule.Effect
	onWatch := e.EndWatch || e.ExpireWatch || e.HoldEvents || e.SkipEvents
	switch {
	case !slices.Contains(e.fits(), q.Verb), len(m.Verbs) > 0 && !slices.Contains(m.Verbs, q.Verb),
		q.Open && !onWatch, m.DryRun != nil && *m.DryRun != q.DryRun,
		q.Controller && (!m.Controllers || onWatch), e.StaleReads && !q.Stale:
		return false
	}
	return like(m.Group, cmp.Or(q.Group, "core")) && like(m.Resource, q.Resource) && like(m.Subresource, q.Subresource) &&
		like(m.Namespace, q.Namespace) && like(m.Name, q.Name) && like(m.User, q.User) &&
		like(m.UserAgent, q.UserAgent) && like(m.FieldManager, q.FieldManager)
}

// selects counts a request that the rule matches, and reports whether it meets the effect.
func (r *rule) selects() bool {
	r.Matched++
	n, o := r.Matched-r.Rule.Skip, &r.Rule
	if n <= 0 || n%cmp.Or(o.Every, 1) != 0 || o.Times > 0 && r.Fired >= o.Times ||
		o.Probability > 0 && r.random.Float64() >= o.Probability {
		return false
	}
	r.Fired++
	return true
}

// like reports whether a string matches a pattern with *. The empty pattern matches all.
func like(pattern, s string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == "" || pattern == s
	}
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	s, ok := strings.CutPrefix(s, parts[0])
	for i := 1; ok && i < last; i++ {
		_, s, ok = strings.Cut(s, parts[i])
	}
	return ok && strings.HasSuffix(s, parts[last])
}

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
