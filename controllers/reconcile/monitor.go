package reconcile

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Soon is a limit: a loop is not idle while a pass is due within that time. Retries after a conflict or another short
// failure are due sooner. Waits for a time of day, and retries after repeated failures, are due later.
const Soon = time.Second

// Part is something for which a Monitor waits: a Loop, or work beside one. Its methods may be called from any
// goroutine.
type Part interface {
	// Idle waits until the part has processed everything up to the revision and has nothing to do before Soon, and
	// returns its activity at that moment: a number that grows whenever the part begins or ends something. The error is
	// ctx's.
	Idle(ctx context.Context, revision int64) (activity uint64, err error)
	// Report describes the part at the moment of the call, with at most most entries in each list. It doesn't wait
	// for work. The error is ctx's.
	Report(ctx context.Context, most int) (Report, error)
}

// Report describes a part at one moment.
type Report struct {
	// Activity is as for Idle.
	Activity uint64
	// Works is the current work of the part, Waits its later work, the earliest first.
	Works []Work
	Waits []Wait
	// MoreWorks and MoreWaits are the numbers of entries that were omitted.
	MoreWorks, MoreWaits int
}

// Object names the object of a pass. The zero value names none.
type Object struct{ Group, Version, Resource, Kind, Namespace, Name string }

// Work is current work of a controller.
type Work struct {
	Controller string
	Object     Object
	// What describes the work; it names no object.
	What string
}

// Wait is work that a controller will do at a later time.
type Wait struct {
	Controller string
	Object     Object
	Until      time.Time
	// Why is the reason for the wait; it names no object.
	Why string
	// Err is the error of the last attempt; nil if there was none.
	Err error
}

// Monitor waits for the parts that run with a context of With. The zero value has none.
type Monitor struct {
	// Clock is the clock of the parts; nil means the machine's. It isn't changed after the first With.
	Clock *Clock

	mu    sync.Mutex // guards the fields below
	parts map[*member]struct{}
	// counted is the number of parts that Await counts.
	counted int
	// grown is closed when a part is added; nil if no one waits.
	grown chan struct{}
}

// member is a part with its name. life is done when it has ended.
type member struct {
	name string
	part Part
	life context.Context
}

// scope is the value in a context of With: the monitor, and the name of its parts.
type scope struct {
	monitor *Monitor
	name    string
}

type (
	scopeKey struct{}
	probeKey struct{}
)

// With returns a context for parts for which m waits.
func (m *Monitor) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope{monitor: m})
}

// Unmonitored returns a context for parts for which no monitor waits, such as those that only renew leases.
func Unmonitored(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope{})
}

// Named returns a context for the parts of the controller of that name.
func Named(ctx context.Context, name string) context.Context {
	s, _ := ctx.Value(scopeKey{}).(scope)
	s.name = name
	return context.WithValue(ctx, scopeKey{}, s)
}

// Join adds a part to the monitor of ctx, if it has one. end removes it.
func Join(ctx context.Context, p Part) (end func()) { return join(ctx, p, true) }

// JoinBeside is Join for a part that gets its work from another part, which joins later and ends before. Await doesn't
// count it.
func JoinBeside(ctx context.Context, p Part) (end func()) { return join(ctx, p, false) }

func join(ctx context.Context, p Part, counts bool) (end func()) {
	s, _ := ctx.Value(scopeKey{}).(scope)
	if s.monitor == nil {
		return func() {}
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one, m := &member{name: s.name, part: p, life: life}, s.monitor
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.parts == nil {
		m.parts = map[*member]struct{}{}
	}
	m.parts[one] = struct{}{}
	if counts {
		m.counted++
	}
	if m.grown != nil {
		close(m.grown)
		m.grown = nil
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.parts, one)
		if counts {
			m.counted--
		}
		cancel()
	}
}

// Await waits until that number of parts has joined.
func (m *Monitor) Await(ctx context.Context, parts int) error {
	for {
		m.mu.Lock()
		if m.counted >= parts {
			m.mu.Unlock()
			return nil
		}
		if m.grown == nil {
			m.grown = make(chan struct{})
		}
		grown := m.grown
		m.mu.Unlock()
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Monitor) members() map[*member]struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.parts)
}

// Idle waits until each part in turn has processed everything up to the revision and has nothing to do before Soon.
// Then call Quiet with the result: it reports whether this was true of all parts at one moment.
func (m *Monitor) Idle(ctx context.Context, revision int64) (Marks, error) {
	marks := Marks{activity: map[*member]uint64{}}
	for one := range m.members() {
		within, stop := one.within(ctx)
		activity, err := one.part.Idle(within, revision)
		stop()
		if ctx.Err() != nil {
			return Marks{busy: one}, ctx.Err()
		}
		if err == nil { // else the part has ended
			marks.activity[one] = activity
		}
	}
	return marks, nil
}

// Marks has the activity of each part when it was idle, or the part that was not idle.
type Marks struct {
	activity map[*member]uint64
	busy     *member
}

// Quiet reports whether no part was added, ended or did anything since it was idle. Then all of them were idle at the
// time of the last answer. waits has their later work.
func (m *Monitor) Quiet(ctx context.Context, since Marks, most int) (waits List[Wait], quiet bool, err error) {
	now := m.members()
	if len(now) != len(since.activity) {
		return waits, false, nil
	}
	for one := range now {
		activity, was := since.activity[one]
		r, err := one.report(ctx, most)
		switch {
		case ctx.Err() != nil:
			return waits, false, ctx.Err()
		case err != nil || !was || r.Activity != activity:
			return waits, false, nil
		}
		waits.add(r.Waits, r.MoreWaits, most, earlier)
	}
	return waits, true, nil
}

// Report describes all parts. since is the result that Idle has returned with its error. The part that was not idle is
// in works even if it can't name its work.
func (m *Monitor) Report(ctx context.Context, since Marks, most int) (works List[Work], waits List[Wait]) {
	soon := m.Clock.Now().Add(Soon)
	for one := range m.members() {
		r, err := one.report(ctx, most)
		if err == nil {
			later := slices.DeleteFunc(r.Waits, func(w Wait) bool {
				if w.Until.After(soon) {
					return false
				}
				r.Works = append(r.Works, Work{Object: w.Object, What: "a pass that is due: " + w.Why})
				return true
			})
			waits.add(later, r.MoreWaits, most, earlier)
		}
		if (one == since.busy || err != nil) && len(r.Works) == 0 {
			r.Works = append(r.Works, Work{What: "taking in changes"})
		}
		for i := range r.Works {
			r.Works[i].Controller = one.name
		}
		works.add(r.Works, r.MoreWorks, most, alphabetic)
	}
	return works, waits
}

// within returns a context for a question to the part. The context also ends with the part.
func (one *member) within(ctx context.Context) (within context.Context, stop func()) {
	within, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(one.life, cancel)
	return within, func() { unlink(); cancel() }
}

// report returns the report of the part, with the controller's name in its waits.
func (one *member) report(ctx context.Context, most int) (Report, error) {
	within, stop := one.within(ctx)
	defer stop()
	r, err := one.part.Report(within, most)
	for i := range r.Waits {
		r.Waits[i].Controller = one.name
	}
	return r, err
}

// List is a list of limited length.
type List[T any] struct {
	Items []T
	// Omitted is the number of entries that the list lacks.
	Omitted int
}

// add adds items and the number of omitted ones. It keeps at most most items, the first in the order.
func (l *List[T]) add(items []T, omitted, most int, order func(a, b T) int) {
	l.Items = append(l.Items, items...)
	l.Omitted += omitted
	slices.SortStableFunc(l.Items, order)
	if more := len(l.Items) - most; more > 0 {
		l.Items = slices.Delete(l.Items, most, len(l.Items))
		l.Omitted += more
	}
}

func earlier(a, b Wait) int {
	return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Controller, b.Controller), a.Object.compare(b.Object))
}

func alphabetic(a, b Work) int {
	return cmp.Or(cmp.Compare(a.Controller, b.Controller), a.Object.compare(b.Object), cmp.Compare(a.What, b.What))
}

func (o Object) compare(p Object) int {
	return cmp.Or(cmp.Compare(o.Kind, p.Kind), cmp.Compare(o.Namespace, p.Namespace), cmp.Compare(o.Name, p.Name))
}

// Namespace names a namespace.
func Namespace(name string) Object {
	return Object{Version: "v1", Resource: "namespaces", Kind: "Namespace", Name: name}
}
