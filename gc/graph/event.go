package graph

// Event is something that happened: Observed, Gone, Kinds, Loaded, Result, Due or Overdue.
type Event interface{ event() }

// Observed says that an object was written.
type Observed struct{ Object Object }

// Gone says that nothing is stored under the key any more.
type Gone struct {
	Key Key
	// Revision is that of the removal.
	Revision int64
}

// Kinds replaces the table of types.
type Kinds struct{ Table []Kind }

// Loaded says that everything stored at Revision has been observed. Before it, no action is taken.
type Loaded struct{ Revision int64 }

// Result is the answer to the request with that ticket.
type Result struct {
	Ticket  Ticket
	Outcome Outcome
}

// Due says that the time that a Retry asked for has passed.
type Due struct{ Ticket Ticket }

// Overdue asks again for whatever was answered before the previous Overdue and still isn't shown
// by the timeline. It is to be sent every now and then; the interval is how long the timeline may lag.
type Overdue struct{}

func (Observed) event() {}
func (Gone) event()     {}
func (Kinds) event()    {}
func (Loaded) event()   {}
func (Result) event()   {}
func (Due) event()      {}
func (Overdue) event()  {}

// Ticket identifies a request or a retry. Tickets are never used twice.
type Ticket uint64

// Outcome is how a request ended.
type Outcome uint8

// The outcomes.
const (
	// Done: carried out, or there was nothing to do.
	Done Outcome = iota
	// Missing: the object isn't there any more, or another one is in its place.
	Missing
	// Conflict: the object or an owner is at another revision than was judged.
	Conflict
	// Failed: refused or not answered.
	Failed
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"done", "missing", "conflict", "failed"}[o]
}
