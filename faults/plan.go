package faults

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Limits of plans.
const (
	MaxRules    = 10_000         // the number of rules in all plans together
	maxDuration = 24 * time.Hour // of each duration
	maxCount    = 1_000_000_000  // of each number
	maxPattern  = 1 << 10        // the number of bytes of a string of a Match
	maxMarks    = 4096           // the number of revisions that a Set keeps with their times
)

// Plan is a list of rules.
type Plan struct {
	Rules []Rule `json:"rules"`
}

// Rule injects an effect into some of the requests that it matches. It skips the first Skip ones. Of the others it
// considers those whose number is a multiple of Every (default 1). It selects each of these with the Probability
// (default 1; Seed determines the random numbers), until it has selected Times (default: no limit).
type Rule struct {
	Match       Match   `json:"match,omitzero"`
	Skip        int     `json:"skip,omitempty"`
	Times       int     `json:"times,omitempty"`
	Every       int     `json:"every,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	Effect      Effect  `json:"effect"`
}

// Match selects requests for resources. An empty field matches all of them. In strings, * matches any characters.
type Match struct {
	Verbs        []string `json:"verbs,omitempty"` // as in Kubernetes' authorization
	Group        string   `json:"group,omitempty"` // that of Pods is core
	Resource     string   `json:"resource,omitempty"`
	Subresource  string   `json:"subresource,omitempty"`
	Namespace    string   `json:"namespace,omitempty"`
	Name         string   `json:"name,omitempty"` // in the path, or in the body of a create
	User         string   `json:"user,omitempty"`
	UserAgent    string   `json:"userAgent,omitempty"`
	FieldManager string   `json:"fieldManager,omitempty"`
	DryRun       *bool    `json:"dryRun,omitempty"`
	// Controllers matches requests of the controllers of this process, too. These have no watches, and no stale reads.
	Controllers bool `json:"controllers,omitempty"`
}

// Effect has exactly one effect, and its parameters.
type Effect struct {
	Error      string   `json:"error,omitempty"`      // the reason of the response, as in Kubernetes
	Delay      Duration `json:"delay,omitempty"`      // executes the request later
	Close      bool     `json:"close,omitempty"`      // closes the connection, and does not execute the request
	LoseAnswer bool     `json:"loseAnswer,omitempty"` // executes the request, and closes the connection
	// EndWatch ends a watch, ExpireWatch with the error 410: at once, or after Events, or after Duration.
	EndWatch    bool `json:"endWatch,omitempty"`
	ExpireWatch bool `json:"expireWatch,omitempty"`
	// HoldEvents sends the events of a watch when the plan is removed, or after Duration. SkipEvents sends only the newest
	// state of each object then.
	HoldEvents bool `json:"holdEvents,omitempty"`
	SkipEvents bool `json:"skipEvents,omitempty"`
	// StaleReads lets lists and watches with resourceVersion=0 begin with the state that is older by Revisions or by
	// Duration, but not older than the first request since there are plans.
	StaleReads bool `json:"staleReads,omitempty"`

	RetryAfter int      `json:"retryAfter,omitempty"` // seconds, for the error TooManyRequests
	Events     int      `json:"events,omitempty"`     // does not count the initial ones
	Duration   Duration `json:"duration,omitempty"`
	Revisions  int      `json:"revisions,omitempty"`
}

// Duration is a time.Duration whose JSON is a string such as "1.5s".
type Duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler. A value that is not a positive duration becomes -1, which the validation
// rejects with the path of the field.
func (d *Duration) UnmarshalJSON(data []byte) error {
	v, err := time.ParseDuration(strings.Trim(string(data), `"`))
	if *d = Duration(v); err != nil || v <= 0 {
		*d = -1
	}
	return nil
}

var (
	writes  = []string{"create", "update", "patch", "delete", "deletecollection"}
	single  = append([]string{"get", "list"}, writes...)
	verbs   = append([]string{"watch"}, single...)
	watches = []string{"watch"}
)

// reasons has the reasons of errors, with the verbs whose responses can have them.
var reasons = map[string][]string{
	"Conflict": writes, "AlreadyExists": {"create"}, "NotFound": {"get", "update", "patch", "delete"},
	"TooManyRequests": verbs, "InternalError": verbs, "ServiceUnavailable": verbs, "Timeout": verbs,
	"Forbidden": verbs, "Expired": {"list"},
	"Invalid": {"create", "update", "patch"},
}

type kind struct {
	name          string
	verbs, params []string
	in            func(*Effect) bool
}

// kinds are the effects: the field, the verbs that it fits, its parameters, and whether an Effect has it.
var kinds = []kind{
	{"error", verbs, []string{"retryAfter"}, func(e *Effect) bool { return e.Error != "" }},
	{"delay", verbs, []string{"delay"}, func(e *Effect) bool { return e.Delay != 0 }},
	{"close", verbs, nil, func(e *Effect) bool { return e.Close }},
	{"loseAnswer", single, nil, func(e *Effect) bool { return e.LoseAnswer }},
	{"endWatch", watches, []string{"events", "duration"}, func(e *Effect) bool { return e.EndWatch }},
	{"expireWatch", watches, []string{"events", "duration"}, func(e *Effect) bool { return e.ExpireWatch }},
	{"holdEvents", watches, []string{"duration"}, func(e *Effect) bool { return e.HoldEvents }},
	{"skipEvents", watches, []string{"duration"}, func(e *Effect) bool { return e.SkipEvents }},
	{"staleReads", []string{"list", "watch"}, []string{"revisions", "duration"},
		func(e *Effect) bool { return e.StaleReads }},
}

func (k kind) String() string { return k.name }

// kinds returns the effects in e; there is one if e is valid.
func (e *Effect) kinds() []kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return !k.in(e) })
}

// Name returns the field of the effect, and the reason of an error: "loseAnswer", "error Conflict".
func (e *Effect) Name() string { return strings.TrimSpace(e.kinds()[0].name + " " + e.Error) }

// fits returns the verbs that the effect fits.
func (e *Effect) fits() []string {
	if e.Error != "" {
		return reasons[e.Error]
	}
	return e.kinds()[0].verbs
}

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

// cut returns a copy with the first 256 bytes of a client's strings.
func (q *Request) cut() Request {
	c := *q
	for _, s := range []*string{&c.Namespace, &c.Name, &c.User, &c.UserAgent, &c.FieldManager} {
		if len(*s) > 256 {
			*s = strings.ToValidUTF8((*s)[:256], "") + "…"
		}
		*s = strings.Clone(*s)
	}
	return c
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
