package graph

// Event is something that happened: Observed, Gone, Kinds, Loaded, Absent, Result, Due or Overdue.
type Event interface{ event() }

// Observed is the event that an object was written.
type Observed struct{ Object Object }

// Gone is the event that the key was deleted.
type Gone struct{ Key Key }

// Kinds replaces the table of types.
type Kinds struct{ Table []Kind }

// Loaded is the event that the whole state at a revision has been observed. No action is taken before.
type Loaded struct{}

// Absent is the event that an owner does not exist on the other server that has its kind.
type Absent struct{ Owner Elsewhere }

// Result is the answer to the request with that ticket.
type Result struct {
	Ticket  Ticket
	Outcome Outcome
}

// Due is the event that the time of a Retry has passed.
type Due struct{ Ticket Ticket }

// Overdue repeats the decisions on requests that were answered before the previous Overdue and whose effect the
// timeline still doesn't show. It is sent at an interval that limits how long the timeline may lag.
type Overdue struct{}

func (Observed) event() {}
func (Gone) event()     {}
func (Kinds) event()    {}
func (Loaded) event()   {}
func (Absent) event()   {}
func (Result) event()   {}
func (Due) event()      {}
func (Overdue) event()  {}

// Ticket identifies a request or a retry. Tickets are never used twice.
type Ticket uint64

// Outcome is the result of a request.
type Outcome uint8

// The outcomes.
const (
	// Done: the request was carried out, or there was nothing to do.
	Done Outcome = iota
	// Missing: the object is gone, or another one has its key.
	Missing
	// Conflict: the object or an owner has another revision than the decision was made on.
	Conflict
	// Failed: the request was rejected or not answered.
	Failed
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"done", "missing", "conflict", "failed"}[o]
}
