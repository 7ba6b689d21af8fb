package check

import (
	"fmt"
	"strings"
	"time"
)

// Span has the begin and the end of a request, on one monotonic clock.
type Span struct{ Begin, End time.Duration }

// Owner is an owner reference. Resource is the resource of its kind.
type Owner struct {
	Resource, Name, UID string
	Block               bool
}

// Object is the part of an object's state that is checked.
type Object struct {
	UID string
	// Token is the value that a client wrote last. The collector does not change it.
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

// Verb is the kind of a write.
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

// Outcome is the result of a write as its client knows it.
type Outcome uint8

// The outcomes. An ambiguous write may have been executed, or may be executed later.
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
	// Server is the process that received the request.
	Server string
	Verb   Verb
	Key    string
	// UID is the UID of the deleted object, from the request or the response; empty if it is not known.
	UID   string
	Token string
	// Over is the resourceVersion in an update; 0 for none.
	Over    int64
	Outcome Outcome
	// Revision is the resourceVersion in the response; 0 for none.
	Revision int64
}

// String returns the write in one line.
func (w *Write) String() string {
	return fmt.Sprintf("%v-%v %s %s %s uid=%s token=%s over=%d %s revision=%d", w.Begin, w.End, w.Server, w.Verb, w.Key,
		w.UID, w.Token, w.Over, w.Outcome, w.Revision)
}

// Version is a version of an object in a response or event.
type Version struct {
	Key        string
	Revision   int64
	UID, Token string
}

// String returns the version's key and revision.
func (v Version) String() string { return fmt.Sprintf("%s@%d", v.Key, v.Revision) }

// Mode is the resourceVersion parameter of a read.
type Mode uint8

// The modes: no resourceVersion, resourceVersion=0, exactly a revision, and a revision or any later one.
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
	// Key is the key of the object in a GET. For a list it is empty, and Prefix is the prefix of the collection.
	Key, Prefix string
	// Asked is the revision that an exact or at-least read names. Revision is that in the response to a list.
	Asked, Revision int64
	Versions        []Version
	// Gone reports whether the response was 410.
	Gone bool
}

// String returns the read in one line.
func (r *Read) String() string {
	s := fmt.Sprintf("%v-%v %s %s", r.Begin, r.End, r.Server, r.Mode)
	if r.Key != "" {
		return fmt.Sprintf("%s get %s: %v", s, r.Key, r.Versions)
	}
	return fmt.Sprintf("%s list %s asked=%d revision=%d: %d objects, gone %t", s, r.Prefix, r.Asked, r.Revision,
		len(r.Versions), r.Gone)
}

// StepKind is the kind of a watcher's step.
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

// Step is a response or event that a watcher received. For a list only the revision counts: a Read has its content.
type Step struct {
	At     time.Duration
	Server string
	Kind   StepKind
	// Version is the version in an event. Other steps have only its Revision. The Revision of Expired is the one from
	// which the watcher tried to resume.
	Version Version
}

// String returns the step in one line.
func (s Step) String() string { return fmt.Sprintf("%v %s %s %s", s.At, s.Server, s.Kind, s.Version) }

// Watcher is the life of a watcher. It lists and watches, and resumes from its last revision when a watch ends.
type Watcher struct {
	Name, Prefix string
	// Until is the last revision that it watched; 0 for the end of the history.
	Until int64
	Steps []Step
}

// Compaction records that a client requested at a time that etcd compact all revisions before Revision.
type Compaction struct {
	Begin    time.Duration
	Revision int64
}

// History has everything that happened since the cluster was empty.
type History struct {
	Events      []Event
	Compactions []Compaction
	// Ready has etcd's revision at the time when each server process was ready. It omits processes if that is not
	// known.
	Ready    map[string]int64
	Writes   []*Write
	Reads    []*Read
	Watchers []*Watcher
}

// Rule is a rule that may be violated.
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

// Violation is a violated rule, with the smallest part of the history that shows it.
type Violation struct {
	Rule Rule
	What string
	// Shown has the events and requests, one in each line.
	Shown []string
}

// String returns the violation in several lines.
func (v Violation) String() string {
	return fmt.Sprintf("%s: %s\n    %s", v.Rule, v.What, strings.Join(v.Shown, "\n    "))
}

// Check returns the violations, grouped by rule.
func Check(h *History) []Violation {
	t := newTimeline(h)
	f := newFrontier(h, t)
	var out []Violation
	for _, check := range []func(*History, *timeline, *frontier) []Violation{writes, reads, watchers, collections} {
		out = append(out, check(h, t, f)...)
	}
	return out
}
