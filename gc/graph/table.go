package graph

import "slices"

// Life is an object's own lifecycle.
type Life uint8

// The lifecycles. The live ones with a finalizer of the collector were created with it.
const (
	Live Life = iota
	LiveOrphan
	LiveForeground
	Terminating
	OrphaningLife
	ForegroundLife
)

// Owners summarizes the verdicts on an object's references.
type Owners uint8

// The summaries.
const (
	NoOwners Owners = iota
	SolidOwners
	// MixedOwners: at least one is solid, at least one isn't.
	MixedOwners
	// WaitingOwners: none is solid, at least one waits for its dependents.
	WaitingOwners
	DanglingOwners
	UndecidableOwners
	UnreachableOwners
)

// Dependents summarizes the effect of an object's dependents on it.
type Dependents uint8

// The cases.
const (
	NoDependents Dependents = iota
	// FreeDependents don't keep it.
	FreeDependents
	// HoldingDependents keep it: they block it, or their own deletion hasn't been answered yet.
	HoldingDependents
)

// Situation is everything that a decision depends on.
type Situation struct {
	Life       Life
	Owners     Owners
	Dependents Dependents
	// Released: an owner orphans its dependents.
	Released bool
	// Cyclic: the object waits for itself through a reference that must be unblocked.
	Cyclic bool
}

// Move is a decision.
type Move uint8

// The moves.
const (
	Keep Move = iota
	DropOwners
	UnblockOwners
	ReleaseOrphan
	ReleaseForeground
	DeleteBackground
	DeleteForeground
	DeleteOrphan
)

// String names the move.
func (m Move) String() string {
	return [...]string{"keep", "drop owners", "unblock owners", "release orphan", "release foreground",
		"delete background", "delete foreground", "delete orphan"}[m]
}

// row is a row of the table. An empty set means any.
type row struct {
	life             []Life
	owners           []Owners
	dependents       []Dependents
	released, cyclic bool
	move             Move
}

// table is the complete decision table; the first row that fits decides.
var table = []row{
	// The dependents of an orphaning owner drop their references to it, in any state (D-60, D-62).
	{released: true, move: DropOwners},
	// An orphaning owner is released when no object names it any more (D-60).
	{life: []Life{OrphaningLife}, dependents: []Dependents{NoDependents}, move: ReleaseOrphan},
	// A foreground owner is released when no dependent blocks it (D-43). It waits for the answers to the deletions of
	// all its dependents, so that those that don't block are deleted before it is (D-S30).
	{life: []Life{ForegroundLife}, cyclic: true, move: UnblockOwners},
	{life: []Life{ForegroundLife}, dependents: []Dependents{NoDependents, FreeDependents}, move: ReleaseForeground},
	// All other terminating objects are finished by other components (D-31).
	{life: []Life{Terminating, OrphaningLife, ForegroundLife}, move: Keep},
	// An object is neither deleted nor patched if its owners can't be determined (D-37, D-38), or if it is owned (D-34,
	// D-39).
	{owners: []Owners{UndecidableOwners, UnreachableOwners, NoOwners, SolidOwners}, move: Keep},
	{owners: []Owners{MixedOwners}, move: DropOwners}, // D-39
	// The owner waits, so this object must wait for its own dependents, too (D-40, D-47).
	{owners: []Owners{WaitingOwners}, dependents: []Dependents{FreeDependents, HoldingDependents}, move: DeleteForeground},
	// The policy follows from its finalizer, not from the kind's default (D-41, J-27).
	{life: []Life{LiveOrphan}, move: DeleteOrphan},
	{life: []Life{LiveForeground}, move: DeleteForeground},
	{move: DeleteBackground},
}

// Decide looks up the situation in the table.
func Decide(s Situation) Move {
	for i := range table {
		if table[i].fits(s) {
			return table[i].move
		}
	}
	return Keep
}

func (r *row) fits(s Situation) bool {
	return has(r.life, s.Life) && has(r.owners, s.Owners) && has(r.dependents, s.Dependents) &&
		(!r.released || s.Released) && (!r.cyclic || s.Cyclic)
}

func has[T comparable](set []T, v T) bool {
	return len(set) == 0 || slices.Contains(set, v)
}
