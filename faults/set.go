package faults

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Set has the plans in force. New makes one.
type Set struct {
	// MaxFired is the number of injected faults that are kept. It may be changed while there is no plan.
	MaxFired int

	state atomic.Pointer[state]
	// mu guards the changes of state, the counters of rules, and the fields below.
	mu sync.Mutex
	// fired has the last faults, at most twice as many as are kept.
	fired []Fired
	total int
	// marks are the revisions that requests have found, since the Set last had no plan.
	marks []mark
}

// state is immutable, except for the counters of rules.
type state struct {
	rules []*rule
	// newest is the number of the newest plan.
	newest int
	// changed is closed when there is another state.
	changed chan struct{}
}

// rule is a Rule in force.
type rule struct {
	RuleReport
	fits    []string // verbs
	random  *rand.Rand
	removed chan struct{} // is closed when the plan is removed
}

func (r *rule) matches(q *Request) bool {
	m, e := &r.Match, &r.Effect
	onWatch := e.EndWatch || e.ExpireWatch || e.HoldEvents || e.SkipEvents
	switch {
	case !slices.Contains(r.fits, q.Verb), len(m.Verbs) > 0 && !slices.Contains(m.Verbs, q.Verb),
		q.Open && !onWatch, m.DryRun != nil && *m.DryRun != q.DryRun,
		q.Controller && (!m.Controllers || onWatch), e.StaleReads && !q.Stale:
		return false
	}
	return like(m.Group, cmp.Or(q.Group, "core")) &&
		like(m.Resource, q.Resource) && like(m.Subresource, q.Subresource) &&
		like(m.Namespace, q.Namespace) && like(m.Name, q.Name) && like(m.User, q.User) &&
		like(m.UserAgent, q.UserAgent) && like(m.FieldManager, q.FieldManager)
}

// selects counts a request that the rule matches, and reports whether it meets the effect.
func (r *rule) selects() bool {
	r.Matched++
	n := r.Matched - r.Skip
	if n <= 0 || n%cmp.Or(r.Every, 1) != 0 || r.Times > 0 && r.Fired >= r.Times ||
		r.Probability > 0 && r.random.Float64() >= r.Probability {
		return false
	}
	r.Fired++
	return true
}

type mark struct {
	at       time.Time
	revision int64
}

// New returns a Set without plans.
func New() *Set {
	s := &Set{MaxFired: 1000}
	s.state.Store(&state{changed: make(chan struct{})})
	return s
}

// Add puts a plan in force, and returns its number. remove ends it, and may be called more than once.
func (s *Set) Add(p Plan) (number int, remove func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.state.Load()
	if err := p.check(len(now.rules)); err != nil {
		return 0, nil, err
	}
	number = now.newest + 1
	rules, removed := slices.Clip(now.rules), make(chan struct{})
	for i, r := range p.Rules {
		random := rand.New(rand.NewPCG(r.Seed, 0))
		rules = append(rules, &rule{RuleReport{Plan: number, Index: i, Rule: r}, r.Effect.fits(), random, removed})
	}
	s.become(rules, number)
	return number, func() { s.Remove(number) }, nil
}

// Remove ends the plan with a number, or all plans for 0, and returns the number of plans that were in force.
func (s *Set) Remove(number int) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.state.Load()
	left := slices.DeleteFunc(slices.Clone(now.rules), func(r *rule) bool {
		removed := number == 0 || r.Plan == number
		if removed && r.Index == 0 {
			close(r.removed)
			n++
		}
		return removed
	})
	if n > 0 {
		s.become(left, now.newest)
	}
	return n
}

// Reset removes all plans, and forgets the faults that were injected. The numbers of plans continue.
func (s *Set) Reset() {
	s.Remove(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fired, s.total = nil, 0
}

// become replaces the state. s.mu is held.
func (s *Set) become(rules []*rule, newest int) {
	old := s.state.Swap(&state{rules: rules, newest: newest, changed: make(chan struct{})})
	if len(rules) == 0 {
		s.marks = nil
	}
	close(old.changed)
}

// Idle reports whether there is no plan.
func (s *Set) Idle() bool { return len(s.state.Load().rules) == 0 }

// Changed returns a channel that is closed when a plan is added or removed.
func (s *Set) Changed() <-chan struct{} { return s.state.Load().changed }

// Shot is a fault that a request meets.
type Shot struct {
	*Effect
	Where string // RuleReport.Where
	// Removed is closed when the plan is removed.
	Removed <-chan struct{}
	// Revision is the revision at which StaleReads reads.
	Revision int64
}

// Decide returns the fault that a request meets, or nil, and the number of the plan after which a watch decides again:
// that of the fault if the watch is open, so that it meets newer plans in turn, or else the newest.
func (s *Set) Decide(q *Request, now time.Time) (shot *Shot, newest int) {
	if st := s.state.Load(); len(st.rules) == 0 || st.newest <= q.After {
		return nil, st.newest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.Load()
	if n := len(s.marks); n == 0 || s.marks[n-1].revision < q.Revision {
		s.marks = append(s.marks[max(n+1-maxMarks, 0):], mark{now, q.Revision})
	}
	for _, r := range st.rules {
		if r.Plan > q.After && r.matches(q) && r.selects() {
			if q.Open {
				return s.fire(r, q, now), r.Plan
			}
			return s.fire(r, q, now), st.newest
		}
	}
	return nil, st.newest
}

func (s *Set) fire(r *rule, q *Request, now time.Time) *Shot {
	e := &r.Effect
	if len(s.fired) == 2*s.MaxFired {
		s.fired = append(s.fired[:0], s.fired[s.MaxFired:]...)
	}
	s.total++
	s.fired = append(s.fired, Fired{Time: now, Plan: r.Plan, Rule: r.Index, Effect: e.Name(), Request: q.cut()})
	shot := &Shot{Effect: e, Where: r.Where(), Removed: r.removed}
	if e.Revisions > 0 {
		shot.Revision = max(q.Revision-int64(e.Revisions), 1)
	} else if e.StaleReads {
		young := func(i int) bool { return now.Sub(s.marks[i].at) < time.Duration(e.Duration) }
		shot.Revision = s.marks[max(sort.Search(len(s.marks), young)-1, 0)].revision
	}
	return shot
}

// Report has the rules in force, and the faults that were injected.
type Report struct {
	Rules []RuleReport `json:"rules"`
	// Fired are the last faults, also those of removed plans. Total is the number of all.
	Fired []Fired `json:"fired"`
	Total int     `json:"total"`
}

// RuleReport is a rule of a plan, with the numbers of requests that it has matched, and of those that met its effect.
type RuleReport struct {
	Plan  int `json:"plan"`
	Index int `json:"rule"`
	Rule
	Matched int `json:"matched"`
	Fired   int `json:"fired"`
}

// Where names the plan, the rule and the effect: "plan 1 rules[0] loseAnswer".
func (r *RuleReport) Where() string {
	return fmt.Sprintf("plan %d rules[%d] %s", r.Plan, r.Index, r.Effect.Name())
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
	last := s.fired[max(0, len(s.fired)-s.MaxFired):]
	r := Report{Rules: []RuleReport{}, Fired: append([]Fired{}, last...), Total: s.total}
	for _, one := range s.state.Load().rules {
		r.Rules = append(r.Rules, one.RuleReport)
	}
	return r
}
