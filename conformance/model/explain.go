package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Call is a request that was sent to a server.
type Call struct {
	// Op is the resolved operation.
	Op Op
	// Sent is the number of events that were known when the request was sent: the request was executed after them.
	Sent int
	// Response is the response. Code 0 means that none was received: the request may or may not have had its effect.
	Response Response
}

// ErrHistory: no history of the model has these calls and events.
var ErrHistory = errors.New("the model has no such history")

// Explain finds an order of the calls and of the collector's steps that has exactly these events and responses, and
// after which no step is due. It begins in the last of the past states, in which no step is due. In the other past
// states the collector may have made decisions that it has not executed yet. Explain returns the states after each
// event. Events are in the order of their versions. If there is no such order, or if the last events are missing, the
// error describes the first event that could not be explained.
func Explain(past []State, calls []Call, events []Event) ([]State, error) {
	e := &explanation{
		calls: calls, events: events, done: make([]int, len(calls)), states: slices.Clone(past), base: len(past) - 1,
	}
	if e.from(0) {
		return e.states[len(past):], nil
	}
	return nil, fmt.Errorf("%w: %s", ErrHistory, e.why)
}

// explanation is a depth-first search.
type explanation struct {
	calls  []Call
	events []Event
	// done is the number of effects of each call that have been seen, or for a collection the number of processed
	// items.
	done []int
	// states has the past states, and the state after each event; base is the index of the last past state.
	states []State
	base   int
	// deepest is the maximum number of events that were explained; why has the reasons why the next one was not.
	deepest int
	why     reasons
}

// reasons are the different reasons why an event can't be explained.
type reasons []string

// mostReasons limits reasons, because a search may fail at the same event in many ways.
const mostReasons = 8

// String returns the reasons, one on each line.
func (r reasons) String() string { return strings.Join(r, "\nor ") }

func (e *explanation) fail(i int, format string, args ...any) bool {
	if i < e.deepest {
		return false
	}
	if i > e.deepest {
		e.deepest, e.why = i, nil
	}
	if why := fmt.Sprintf(format, args...); len(e.why) < mostReasons && !slices.Contains(e.why, why) {
		e.why = append(e.why, why)
	}
	return false
}

func (e *explanation) from(i int) bool {
	s := e.states[len(e.states)-1]
	if i == len(e.events) {
		return e.checkEnd(i, s)
	}
	ev := e.events[i]
	for c := range e.calls {
		if e.calls[c].Sent <= i && e.byCall(i, c, s, ev) {
			return true
		}
	}
	if e.byStep(s, ev) && e.next(i, s, ev) {
		return true
	}
	return e.fail(i, "event %d, %s, is neither the effect of a call nor a due step; due steps: %v", i, ev, Steps(s))
}

// next continues the search in the state after the event.
func (e *explanation) next(i int, s State, ev Event) bool {
	if ev.Type == Deleted {
		s = s.without(ev.Object.Key)
	} else {
		o := ev.Object
		old := s[o.Key]
		o.Bound, o.Period = old.Bound, old.Period // events don't have them
		s = s.with(o)
	}
	return e.nextState(i, s)
}

func (e *explanation) nextState(i int, s State) bool {
	e.states = append(e.states, s)
	if e.from(i + 1) {
		return true
	}
	e.states = e.states[:len(e.states)-1]
	return false
}

// byCall tries to explain the event as the effect of a call.
func (e *explanation) byCall(i, c int, s State, ev Event) bool {
	call, before := &e.calls[c], e.done[c]
	if call.Op.Verb == Collection {
		return e.byItem(i, c, s, ev)
	}
	if before > 0 || call.Op.Key != ev.Object.Key {
		return false
	}
	_, answer, effects := Apply(s, call.Op)
	if len(effects) == 0 || !effects[0].Same(ev) {
		return false
	}
	if call.Response.Code != 0 && !answer.Same(call.Response) {
		return e.fail(i, "the response to %s would be %s, not %s", call.Op, answer, call.Response)
	}
	ev.Object.Bound, ev.Object.Period = effects[0].Object.Bound, effects[0].Object.Period
	e.done[c] = 1
	next := s.without(ev.Object.Key)
	if ev.Type != Deleted {
		next = s.with(ev.Object)
	}
	if e.nextState(i, next) {
		return true
	}
	e.done[c] = before
	return false
}

// byItem tries to explain the event as the effect of a collection's DELETE on one of the items. The items are deleted
// in order.
func (e *explanation) byItem(i, c int, s State, ev Event) bool {
	call, before := &e.calls[c], e.done[c]
	items := call.Response.Items
	if call.Response.Code == 0 {
		items = e.during(call)[0].list(call.Op)
	}
	for n := before; n < len(items); n++ {
		if _, _, effects := remove(s, call.Op.item(items[n].Key)); len(effects) > 0 && effects[0].Same(ev) {
			e.done[c] = n + 1
			if e.next(i, s, ev) {
				return true
			}
			e.done[c] = before
		}
		if !e.passed(call, items[n].Key) {
			return false
		}
	}
	return false
}

// passed reports whether a collection's DELETE may have left the object unchanged: in a state during the call, the
// object was gone or marked already (C-73).
func (e *explanation) passed(call *Call, item Key) bool {
	return slices.ContainsFunc(e.during(call), func(s State) bool {
		_, _, effects := remove(s, call.Op.item(item))
		return len(effects) == 0
	})
}

// during returns the states since a call was sent.
func (e *explanation) during(call *Call) []State {
	return e.states[min(e.base+call.Sent, len(e.states)-1):]
}

// byStep reports whether the event is a step of the collector, or ends the removal of a pod. A deletion must be due in
// the state s (safety). Steps that only remove references or finalizers may have been decided in an earlier state.
func (e *explanation) byStep(s State, ev Event) bool {
	o, ok := s[ev.Object.Key]
	if !ok || o.UID != ev.Object.UID || ev.Type == Added || KindOf(o.Kind).Ignored {
		return false
	}
	does := func(t Step) bool {
		_, effects := Take(s, t)
		return effects[0].Same(ev)
	}
	if o.doomed() {
		return does(Step{Kind: Finish, Key: o.Key})
	}
	if uids := lost(o.Owners, ev.Object.Owners); len(uids) > 0 {
		return does(Step{Kind: Drop, Key: o.Key, Owners: uids}) && e.allowed(o, uids, couldDrop(o))
	}
	if uids := freed(o.Owners, ev.Object.Owners); len(uids) > 0 {
		return does(Step{Kind: Unblock, Key: o.Key, Owners: uids}) && e.allowed(o, uids, couldUnblock)
	}
	if does(Step{Kind: Drop, Key: o.Key}) { // an update has removed the references: only the order of others changes
		return slices.ContainsFunc(e.states, func(s State) bool {
			was, ok := s[o.Key]
			return ok && was.UID == o.UID && len(s.droppable(was)) > 0
		})
	}
	for _, t := range e.wereDue(o) {
		if t.Kind == Collect && (s.collect(o) == "" || Unsafe(s, o)) {
			continue
		}
		if does(t) {
			return true
		}
	}
	return false
}

// wereDue returns the object's steps in all states in which the object was the same.
func (e *explanation) wereDue(o Object) []Step {
	var all []Step
	for _, s := range e.states {
		if s[o.Key].Same(o) {
			all = append(all, s.steps(o)...)
		}
	}
	return all
}

// allowed reports whether f returns true for each uid in some state that contains the object.
func (e *explanation) allowed(o Object, uids []UID, f func(s State, was Object, uid UID) bool) bool {
	return !slices.ContainsFunc(uids, func(uid UID) bool {
		return !slices.ContainsFunc(e.states, func(s State) bool {
			was, ok := s[o.Key]
			return ok && was.UID == o.UID && f(s, was, uid)
		})
	})
}

// couldDrop returns a function that reports whether a reference could be dropped. An owner that is gone or orphans its
// dependents never comes back, and its references are dropped by uid alone (D-51). References to other owners may have
// been corrected: they must be as they were.
func couldDrop(o Object) func(s State, was Object, uid UID) bool {
	return func(s State, was Object, uid UID) bool {
		owner, there := s.Find(uid)
		return slices.Contains(s.droppable(was), uid) &&
			(!there || owner.releases() || slices.Equal(only(was.Owners, uid), only(o.Owners, uid)))
	}
}

// couldUnblock reports whether a reference could be unblocked (D-53).
func couldUnblock(s State, was Object, uid UID) bool {
	return slices.Contains(s.unblockable(was), uid)
}

func only(owners []Owner, uid UID) []Owner {
	return slices.DeleteFunc(slices.Clone(owners), func(r Owner) bool { return r.UID != uid })
}

// lost returns the uids that are only in the old references.
func lost(old, now []Owner) []UID {
	var uids []UID
	for _, r := range old {
		if len(only(now, r.UID)) == 0 {
			uids = append(uids, r.UID)
		}
	}
	return uids
}

// freed returns the uids whose references block only in the old references.
func freed(old, now []Owner) []UID { return lost(blocking(old), blocking(now)) }

func blocking(owners []Owner) []Owner {
	return slices.DeleteFunc(slices.Clone(owners), func(r Owner) bool { return r.Block != True })
}

// checkEnd checks the end of the history: every call without an effect is explained, and no step is due.
func (e *explanation) checkEnd(i int, s State) bool {
	for c := range e.calls {
		if why := e.unexplained(c); why != "" {
			return e.fail(i, "%s", why)
		}
	}
	if due := Steps(s); len(due) > 0 {
		return e.fail(i, "the server is idle, but these steps are due: %v", due)
	}
	if all := Abandoned(s); len(all) > 0 {
		return e.fail(i, "abandoned objects: %v", all)
	}
	return true
}

// forestalled reports whether an update would have removed the object, but another request removed the object first.
// This is no error (B-20).
func forestalled(op Op, effects []Event, later []State) bool {
	if op.Verb == Delete || len(effects) != 1 || effects[0].Type != Deleted {
		return false
	}
	return slices.ContainsFunc(later, func(s State) bool {
		_, there := s[op.Key]
		return !there
	})
}

// unexplained returns the error of a call without events, or of a collection, or an empty string.
func (e *explanation) unexplained(c int) string {
	call := &e.calls[c]
	during := e.during(call)
	switch {
	case call.Response.Code == 0, call.Op.Verb != Collection && e.done[c] > 0:
		return ""
	case call.Op.Verb == Collection && call.Response.Code == 200:
		for _, o := range call.Response.Items[e.done[c]:] {
			if !call.Op.DryRun && !e.passed(call, o.Key) {
				return fmt.Sprintf("%s did not change %s", call.Op, o)
			}
		}
		listed := func(s State) bool { return (Response{Code: 200, Items: s.list(call.Op)}).Same(call.Response) }
		if !slices.ContainsFunc(during, listed) {
			return fmt.Sprintf("%s answered %s", call.Op, call.Response)
		}
		return ""
	}
	var answers []string
	for n, s := range during {
		_, answer, effects := Apply(s, call.Op)
		if answer.Same(call.Response) && (len(effects) == 0 || forestalled(call.Op, effects, during[n+1:])) {
			return ""
		}
		answers = append(answers, fmt.Sprintf("%s, %d events", answer, len(effects)))
	}
	return fmt.Sprintf("%s answered %s, not %s", call.Op, call.Response, strings.Join(slices.Compact(answers), " or "))
}
