package attack

import (
	"context"
	"slices"
	"time"
)

// Attack is what one client does to exhaust a server, or to keep other clients out.
type Attack struct {
	Group, Name string
	// Does says in one sentence what the client does.
	Does string
	// Flags are passed to the server besides those of every attack.
	Flags []string
	// Setup makes, as an administrator, what the attack needs. It isn't measured.
	Setup func(ctx context.Context, t *Target) error
	// Run attacks until ctx ends, in the attacker's process.
	Run func(ctx context.Context, a *Attacker) error
	// Meanwhile is what must succeed while Run runs, in the observer's process. May be nil.
	Meanwhile func(ctx context.Context, t *Target) error
	// For is how long the attack goes on; 0 means Options.For. It goes on for longer until so many Answers have come:
	// without them nothing was shown. 0 is for attacks that aren't answered.
	For     time.Duration
	Answers int
	// Whole says that Run ends by itself, and isn't cut off.
	Whole bool
	// Forbidden says that the attacker lacks the right to do what it tries.
	Forbidden bool
}

// long says why the short form, which CI runs, leaves an attack out. What it asserts must not depend on how fast the
// machine is.
var long = map[string]string{
	"deletion/finalizers-dry":   "the same code as deletion/finalizers",
	"deletion/collector":        "that a cascade goes on is a matter of time",
	"slow/watch-readers":        "only times show anything",
	"slow/list-keepers":         "only times show anything",
	"slow/long-headers":         "it takes thousands of connections",
	"slow/connections":          "it takes thousands of connections",
	"streams/frames":            "it takes thousands of connections",
	"streams/bodies":            "it takes thousands of connections",
	"streams/forbidden":         "it takes thousands of connections",
	"streams/answers":           "it takes thousands of connections",
	"streams/heads":             "it takes gigabytes",
	"watches/terms":             "it takes thousands of connections",
	"watches/headers":           "it takes thousands of connections",
	"watches/tables":            "only times show anything",
	"watches/sockets":           "it takes thousands of connections",
	"watches/many":              "only times show anything",
	"admission/collections":     "it takes many seconds",
	"admission/responses":       "it takes a gigabyte",
	"admission/large-responses": "it takes a gigabyte",
	"admission/slow":            "flowcontrol.TestUserShare shows it with less",
	"floods/lists":              "only times show anything",
	"watches/label-values":      "it takes a gigabyte and many seconds",
	"watches/field-selectors":   "it takes a gigabyte and many seconds",
}

// Short reports whether the attack is part of the short form.
func (a *Attack) Short() bool { return long[a.Title()] == "" }

// Title is the attack's group and name.
func (a *Attack) Title() string { return a.Group + "/" + a.Name }

// All returns the attacks, group by group.
func All() []Attack {
	return slices.Concat(calm(), deletion(), bodies(), slow(), patches(), definitions(), watches(), floods(), streams(),
		rejected(), admission())
}

// calm is no attack: it shows what the other user sees without one.
func calm() []Attack {
	return []Attack{{
		Group: "calm", Name: "nothing",
		Does: "Does nothing: if this line is above its bounds, the machine is too busy for the others.",
		Run: func(ctx context.Context, _ *Attacker) error {
			<-ctx.Done()
			return nil
		},
	}}
}

// Find returns the attack with this title; nil if there is none.
func Find(title string) *Attack {
	all := All()
	i := slices.IndexFunc(all, func(a Attack) bool { return a.Title() == title })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Bounds are what no attack may exceed.
type Bounds struct {
	// Memory is the most bytes that may be resident.
	Memory int64
	// P99 is the longest that 99 of 100 requests of the other user may take. 0 means that time isn't looked at.
	P99 time.Duration
}

// Standard are the bounds of the full form.
var Standard = Bounds{Memory: 2 << 30, P99: time.Second}
