package faults

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// MaxFired is the number of injected faults that a Set keeps. maxMarks is that of the revisions with their times.
const (
	MaxFired = 1000
	maxMarks = 4096
)

// Set has the plans in force. New makes one.
type Set struct {
	state atomic.Pointer[state]
	// mu guards the changes of state, the counters of rules, and the fields below.
	mu    sync.Mutex
	fired []Fired
	total int
	// marks are the revisions that requests have found, since the Set last had no plan.
	marks []mark
}

// state is immutable.
type state struct {
	plans []*plan
	// newest is the number of the newest plan.
	newest int
	// changed is closed when there is another state.
	changed chan struct{}
}

type plan struct {
	number  int
	rules   []rule
	removed chan struct{}
}

type mark struct {
	at       time.Time
	revision int64
}

// New returns a Set without plans.
func New() *Set {
	s := &Set{}
	s.state.Store(&state{changed: make(chan struct{})})
	return s
}

// Add puts a plan in force, and returns its number. remove ends it, and may be called more than once.
func (s *Set) Add(p Plan) (number int, remove func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, all := s.state.Load(), len(p.Rules)
	for _, other := range now.plans {
		all += len(other.rules)
	}
	if err = p.check(); err == nil && all > MaxRules {
		err = fmt.Errorf("rules: the plans in force would have %d, more than %d", all, MaxRules)
	}
	if err != nil {
		return 0, nil, err
	}
	added := &plan{number: now.newest + 1, removed: make(chan struct{})}
	for _, r := range p.Rules {
		added.rules = append(added.rules, rule{RuleReport{Rule: r}, rand.New(rand.NewPCG(r.Seed, 0))})
	}
	s.become(append(now.plans[:len(now.plans):len(now.plans)], added), added.number)
	return added.number, func() { s.Remove(added.number) }, nil
}

// Remove ends the plan with a number, or all plans for 0, and returns the number of plans that were in force.
func (s *Set) Remove(number int) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.state.Load()
	var left []*plan
	for _, p := range now.plans {
		if number == 0 || p.number == number {
			close(p.removed)
		} else {
			left = append(left, p)
		}
	}
	if n = len(now.plans) - len(left); n > 0 {
		s.become(left, now.newest)
	}
	return n
}

// become replaces the state. s.mu is held.
func (s *Set) become(plans []*plan, newest int) {
	old := s.state.Swap(&state{plans: plans, newest: newest, changed: make(chan struct{})})
	if len(plans) == 0 {
		s.marks = nil
	}
	close(old.changed)
}

// Idle reports whether there is no plan.
func (s *Set) Idle() bool { return len(s.state.Load().plans) == 0 }

// Changed returns a channel that is closed when a plan is added or removed.
func (s *Set) Changed() <-chan struct{} { return s.state.Load().changed }

// Shot is a fault that a request meets.
type Shot struct {
	*Effect
	// Where names the plan, the rule and the effect: "plan 1 rules[0] loseAnswer".
	Where string
	// Removed is closed when the plan is removed.
	Removed <-chan struct{}
	// Revision is the revision at which StaleReads reads.
	Revision int64
}

// Decide returns the fault that a request meets, or nil, and the number of the newest plan, with which a watch decides
// again when a plan is added.
func (s *Set) Decide(q *Request, now time.Time) (shot *Shot, newest int) {
	if st := s.state.Load(); len(st.plans) == 0 || st.newest <= q.After {
		return nil, st.newest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.Load()
	s.mark(q.Revision, now)
	for _, p := range st.plans {
		if p.number <= q.After {
			continue
		}
		for i := range p.rules {
			if r := &p.rules[i]; r.matches(q) && r.selects() {
				return s.fire(p, i, q, now), st.newest
			}
		}
	}
	return nil, st.newest
}

func (s *Set) fire(p *plan, i int, q *Request, now time.Time) *Shot {
	e := &p.rules[i].Rule.Effect
	if len(s.fired) == MaxFired {
		s.fired = append(s.fired[:0], s.fired[1:]...)
	}
	s.total++
	s.fired = append(s.fired, Fired{Time: now, Plan: p.number, Rule: i, Effect: e.Name(), Request: q.cut()})
	shot := &Shot{Effect: e, Where: fmt.Sprintf("plan %d rules[%d] %s", p.number, i, e.Name()), Removed: p.removed}
	if e.StaleReads {
		shot.Revision = s.past(e, q.Revision, now)
	}
	return shot
}

// mark records the revision that a request finds.
func (s *Set) mark(revision int64, now time.Time) {
	if n := len(s.marks); n > 0 && s.marks[n-1].revision >= revision {
		return
	}
	if len(s.marks) == maxMarks {
		s.marks = append(s.marks[:0], s.marks[maxMarks/2:]...)
	}
	s.marks = append(s.marks, mark{now, revision})
}

// past returns the revision of a stale read.
func (s *Set) past(e *Effect, revision int64, now time.Time) int64 {
	if e.Revisions > 0 {
		return max(revision-int64(e.Revisions), 1)
	}
	for i := len(s.marks) - 1; i >= 0; i-- {
		revision = s.marks[i].revision
		if now.Sub(s.marks[i].at) >= time.Duration(e.Duration) {
			break
		}
	}
	return revision
}
