package check

import (
	"fmt"
	"strings"
	"time"
)

// Span is when a request began and ended, on one monotonic clock.
type Span struct{ Begin, End time.Duration }

// Owner is an owner reference. Resource is that of its kind.
type Owner struct {
	Resource, Name, UID string
	Block               bool
}

// Object is the state of an object as far as it is checked.
type Object struct {
	UID string
	// Token is what the last client wrote; the collector leaves it alone.
	Token       string
	Owners      []Owner
	Terminating bool
	Finalizers  []string
}

// Event is one change in etcd. Object is nil if the key was removed.
type Event struct {
	Revision int64
	// Key is <resource>/<namespace>/<name>.
	Key    string
	Object *Object
}

// Verb is what a write does.
type Verb uint8

// The verbs.
const (
	Create Verb = iota
	Update
	Patch
	Delete
)

// String names the verb.
func (v Verb) String() string { return [...]string{"create", "update", "patch", "delete"}[v] }

// Outcome is what is known of a write from its answer.
type Outcome uint8

// The outcomes. An ambiguous write may have been carried out, or still be.
const (
	Acknowledged Outcome = iota
	Rejected
	Ambiguous
)

// String names the outcome.
func (o Outcome) String() string { return [...]string{"acknowledged", "rejected", "ambiguous"}[o] }

// Write is a request that changes one object.
type Write struct {
	Span
	// Server is the process that was asked.
	Server string
	Verb   Verb
	Key    string
	// UID is that of a deletion's object: as asked for, or as answered; "" if it isn't known.
	UID   string
	Token string
	// Over is the resourceVersion that an update named; 0 for none.
	Over    int64
	Outcome Outcome
	// Revision is the resourceVersion answered; 0 for none.
	Revision int64
}

// String describes the write on a line.
func (w *Write) String() string {
	return fmt.Sprintf("%v-%v %s %s %s uid=%s token=%s over=%d %s revision=%d", w.Begin, w.End, w.Server, w.Verb, w.Key,
		w.UID, w.Token, w.Over, w.Outcome, w.Revision)
}

// Version is an object as a client saw it.
type Version struct {
	Key        string
	Revision   int64
	UID, Token string
}

// String describes the version.
func (v Version) String() string { return fmt.Sprintf("%s@%d", v.Key, v.Revision) }

// Mode is what a read asks for.
type Mode uint8

// The modes: no resourceVersion, resourceVersion=0, one revision exactly, and one revision or any later.
const (
	Default Mode = iota
	Cached
	Exact
	AtLeast
)

// String names the mode.
func (m Mode) String() string { return [...]string{"default", "cached", "exact", "at-least"}[m] }

// Read is a GET of one object or of a collection.
type Read struct {
	Span
	Server string
	Mode   Mode
	// Key is the one object's; for a list it is "", and Prefix says of what.
	Key, Prefix string
	// Asked is the revision that an exact read, or one at least, names; Revision is that of a list's answer.
	Asked, Revision int64
	Versions        []Version
	// Gone reports whether the answer was 410.
	Gone bool
}

// String describes the read on a line.
func (r *Read) String() string {
	s := fmt.Sprintf("%v-%v %s %s", r.Begin, r.End, r.Server, r.Mode)
	if r.Key != "" {
		return fmt.Sprintf("%s get %s: %v", s, r.Key, r.Versions)
	}
	return fmt.Sprintf("%s list %s asked=%d revision=%d: %d objects, gone %t", s, r.Prefix, r.Asked, r.Revision,
		len(r.Versions), r.Gone)
}

// StepKind is what happened to a watcher.
type StepKind uint8

// The kinds of steps.
const (
	Listed StepKind = iota
	Added
	Modified
	Deleted
	Bookmark
	Expired
)

// String names the kind.
func (k StepKind) String() string {
	return [...]string{"listed", "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "410"}[k]
}

// Step is one thing that a watcher was told. Of a list, only Revision counts: its content is a Read.
type Step struct {
	At     time.Duration
	Server string
	Kind   StepKind
	// Version is that of an event; of other steps, only its Revision is set. That of Expired is the one resumed from.
	Version Version
}

// String describes the step.
func (s Step) String() string { return fmt.Sprintf("%v %s %s %s", s.At, s.Server, s.Kind, s.Version) }

// Watcher is the whole life of one: it lists, watches, and goes on from its last revision whenever a watch ends.
type Watcher struct {
	Name, Prefix string
	// Until is the revision up to which it watched; 0 for the end of the history.
	Until int64
	Steps []Step
}

// Compaction records that a client asked etcd at that time to forget what is older than Revision.
type Compaction struct {
	Begin    time.Duration
	Revision int64
}

// History is everything that happened since the cluster was empty.
type History struct {
	Events      []Event
	Compactions []Compaction
	// Ready is etcd's revision when a server process was ready; one that isn't there isn't known.
	Ready    map[string]int64
	Writes   []*Write
	Reads    []*Read
	Watchers []*Watcher
}

// Rule is what was violated.
type Rule string

// The rules.
const (
	LostWrite       Rule = "an acknowledged write is lost"
	RejectedWrite   Rule = "a rejected write was carried out"
	LostUpdate      Rule = "a write replaced another version than the one that it named"
	OldWrite        Rule = "a write is older than what was seen before it began"
	StaleRead       Rule = "a read is older than what was seen before it began"
	WrongRead       Rule = "a read shows what etcd did not hold"
	WatchGap        Rule = "a watcher missed an event"
	WatchRepeat     Rule = "a watcher received an event again, or out of order"
	WatchWrong      Rule = "a watcher received what did not happen"
	UnexplainedGone Rule = "410 Gone without a reason"
	CollectedOwned  Rule = "an object with a solid owner was collected"
	CollectedFree   Rule = "an object without owners was deleted by no client"
	RemovedOwner    Rule = "a reference to a solid owner was removed by no client"
	NotCollected    Rule = "the collector left an object behind"
)

// Violation is a rule that doesn't hold, and the smallest part of the history that shows it.
type Violation struct {
	Rule Rule
	What string
	// Shown are events and requests, one a line.
	Shown []string
}

// String describes the violation on several lines.
func (v Violation) String() string {
	return fmt.Sprintf("%s: %s\n    %s", v.Rule, v.What, strings.Join(v.Shown, "\n    "))
}

// Check returns the violations, those of one rule together.
func Check(h *History) []Violation {
	t := newTimeline(h)
	f := newFrontier(h, t)
	var out []Violation
	for _, check := range []func(*History, *timeline, *frontier) []Violation{writes, reads, watchers, collections} {
		out = append(out, check(h, t, f)...)
	}
	return out
}
