package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Options are options of Generate.
type Options struct {
	// Confluent omits operations whose result depends on the order in which the collector works.
	Confluent bool
	// Kinds are the kinds of the objects, in order. The default is Kinds.
	Kinds []Kind
}

// Generate returns n operations that refer to each other's objects. It applies each operation to the model and then
// lets the collector finish. The same seed gives the same operations.
func Generate(seed uint64, n int, opts Options) []Op {
	if opts.Kinds == nil {
		opts.Kinds = Kinds
	}
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), kinds: opts.Kinds, state: State{}, past: map[UID]bool{}}
	ops := make([]Op, 0, n)
	for id := 1; len(ops) < n; id++ {
		op := g.op()
		op.ID = id
		if opts.Confluent && op.Verb == Collection && KindOf(op.Key.Kind).Ignored {
			continue // the response would list the collector's own Events (D-80), whose time is not determined
		}
		if opts.Confluent && Overlaps(g.state, op.Resolve(g.state)) {
			continue
		}
		next, _, _ := Apply(g.state, op.Resolve(g.state))
		if opts.Confluent && !Confluent(next, 3) {
			continue
		}
		next, _ = Settle(next, First)
		g.state = versioned(next, g.state, int64(id)+1)
		ops = append(ops, op)
	}
	return ops
}

// versioned sets the version of the objects that have changed.
func versioned(s, old State, version int64) State {
	out := State{}
	for k, o := range s {
		if was, ok := old[k]; !ok || !was.Same(o) {
			o.Version = version
		}
		out[k] = o
	}
	return out
}

type generator struct {
	*rand.Rand
	kinds []Kind
	state State
	// past has the uids of objects that existed.
	past map[UID]bool
}

// chance returns true with the given probability.
func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func one[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// Each value occurs in these lists as often as its probability requires.
var (
	verbs = slices.Concat(slices.Repeat([]Verb{Create}, 36), slices.Repeat([]Verb{Delete}, 26),
		slices.Repeat([]Verb{Merge}, 18), slices.Repeat([]Verb{Strategic}, 7), slices.Repeat([]Verb{JSON}, 4),
		[]Verb{Put, Put, Put, Put, Collection, Collection, Get})
	foreign = []string{"example.com/a", "example.com/b", "x.io/hold"}
	names   = []string{"n0", "n1", "n2", "n3"}
)

func (g *generator) op() Op {
	for uid := range g.state {
		g.past[g.state[uid].UID] = true
	}
	op := Op{Verb: one(g, verbs)}
	switch op.Verb {
	case Create:
		g.create(&op)
	case Delete:
		op.Key = g.likelyKey()
		g.delete(&op)
	case Collection:
		op.Key = Key{Kind: "ConfigMap", Namespace: one(g, Namespaces)}
		op.Key.Kind = one(g, g.collections())
		if g.chance(50) {
			op.Label = one(g, []string{"x", "y"})
		}
		g.options(&op)
	case Get:
		op.Key = g.likelyKey()
	default:
		g.patch(&op)
	}
	if k := KindOf(op.Key.Kind); len(k.Also) > 0 {
		op.At, op.Owners = one(g, k.Versions()), distinct(op.Owners)
	}
	return op
}

// distinct omits owners with the uid of an earlier one. An object with such owners can't be converted to a version that
// its managers haven't used: a write in another version loses managedFields, even if it changes nothing else (AM
// pkg/util/managedfields/internal/versionconverter.go: Convert, which allows no duplicates).
func distinct(owners []Owner) []Owner {
	return unique(owners, func(a, b Owner) bool { return a.UID == b.UID })
}

// collections returns the kinds whose collections are deleted.
func (g *generator) collections() []string {
	names := []string{"ConfigMap", "Secret", "ReplicaSet", "Pod", "ReplicationController", "Event"}
	for _, k := range g.kinds {
		if k.Custom && k.Namespaced {
			names = append(names, k.Name)
		}
	}
	return names
}

// anyKey returns a key at which an object may or may not exist.
func (g *generator) anyKey() Key {
	k := one(g, g.kinds)
	key := Key{Kind: k.Name, Name: one(g, names)}
	if k.Namespaced {
		key.Namespace = one(g, Namespaces)
	}
	return key
}

// likelyKey returns a key at which an object most likely exists.
func (g *generator) likelyKey() Key {
	if len(g.state) == 0 || g.chance(7) {
		return g.anyKey()
	}
	return one(g, g.state.Keys())
}

func (g *generator) create(op *Op) {
	op.Key = g.anyKey()
	for range 8 {
		if _, taken := g.state[op.Key]; !taken {
			break
		}
		op.Key = g.anyKey()
	}
	if KindOf(op.Key.Kind).Namespaced && g.chance(1) {
		op.Key.Namespace = NoNamespace
	}
	op.Owners, op.Finalizers = g.owners(op.Key), g.finalizers()
	if g.chance(30) {
		op.Label = one(g, []string{"x", "y"})
	}
	op.DryRun = g.chance(3)
	if op.Key.Kind == "Pod" {
		op.Bound = g.chance(30)
		op.Period = one(g, []int64{0, 10_000, 20_000})
	}
}

// finalizers returns finalizers for an object, usually none.
func (g *generator) finalizers() []string {
	switch n := g.IntN(100); {
	case n < 68:
		return nil
	case n < 84:
		return []string{one(g, foreign)}
	case n < 89:
		return []string{foreign[0], foreign[1]}
	case n < 92:
		return []string{Orphan}
	case n < 95:
		return []string{Foreground}
	case n < 97:
		return []string{one(g, foreign), one(g, []string{Orphan, Foreground})}
	case n < 98:
		return []string{Orphan, Foreground}
	case n < 99:
		return []string{"plain"}
	}
	return []string{"not a name!"}
}

// owners returns up to three references for an object at key.
func (g *generator) owners(key Key) []Owner {
	var owners []Owner
	for range one(g, []int{0, 0, 1, 1, 1, 1, 2, 2, 3}) {
		if len(g.state) == 0 {
			break
		}
		owners = append(owners, g.owner(key))
	}
	return owners
}

// owner returns a reference for an object at key. It is usually valid.
func (g *generator) owner(key Key) Owner {
	o := g.state[one(g, g.state.Keys())]
	for range 5 {
		if o.Namespace == key.Namespace || o.Namespace == "" {
			break
		}
		o = g.state[one(g, g.state.Keys())]
	}
	r := Owner{APIVersion: one(g, KindOf(o.Kind).Versions()), Kind: o.Kind, Name: o.Name, UID: o.UID}
	r.Block = one(g, []Tri{Unset, False, True, True})
	if g.chance(10) {
		r.Controller = one(g, []Tri{False, True})
	}
	if g.chance(22) {
		g.corrupt(&r)
	}
	return r
}

// corrupt makes a reference invalid.
func (g *generator) corrupt(r *Owner) {
	switch g.IntN(12) {
	case 0, 1:
		r.UID = UID(fmt.Sprintf("x%d", g.IntN(3)))
	case 2, 3:
		if len(g.past) > 0 {
			r.UID = one(g, slices.Sorted(maps.Keys(g.past)))
		}
	case 4, 5:
		r.Name = one(g, names)
	case 6:
		k := one(g, g.kinds)
		r.APIVersion, r.Kind = k.APIVersion, k.Name
	case 7:
		r.Kind = one(g, []string{"ConfigMap", "Secret"})
	case 8:
		r.APIVersion = one(g, []string{"v2", "example.com/v1", "example.com/v1alpha1"})
	case 9:
		r.Kind = "Widget"
	case 10:
		r.APIVersion = one(g, []string{"", "apps/", r.APIVersion})
	case 11:
		*r = Owner{APIVersion: r.APIVersion, Kind: r.Kind, Name: one(g, []string{"", r.Name}), UID: r.UID, Controller: True}
	}
}

func (g *generator) delete(op *Op) {
	g.options(op)
	o := g.state[op.Key]
	if g.chance(12) {
		op.UID = one(g, []UID{o.UID, o.UID, "x0"})
	}
	if g.chance(10) {
		op.Version = one(g, []int64{Current, Current, Stale})
	}
	if op.Key.Kind == "Pod" && g.chance(50) || g.chance(5) {
		op.Grace = new(one(g, []int64{0, 0, 10_000, 15_000, 30_000}))
	}
}

func (g *generator) options(op *Op) {
	switch n := g.IntN(100); {
	case n < 30:
		op.Policy = "Background"
	case n < 55:
		op.Policy = "Foreground"
	case n < 65:
		op.Policy = "Orphan"
	case n < 70:
		op.Orphans = True
	case n < 77:
		op.Orphans = False
	case n < 78:
		op.Policy = "Sideways"
	case n < 79:
		op.Policy, op.Orphans = "Background", False
	}
	op.Query, op.DryRun = g.chance(25), g.chance(4)
}

// patch completes a patch or a put.
func (g *generator) patch(op *Op) {
	op.Key = g.likelyKey()
	for range 20 {
		if op.Verb != Put || KindOf(op.Key.Kind).Replaceable {
			break
		}
		op.Key = g.likelyKey()
	}
	if op.Verb == Put && !KindOf(op.Key.Kind).Replaceable {
		op.Verb = Merge
	}
	o := g.state[op.Key]
	switch op.Verb {
	case JSON:
		op.Remove = one(g, []string{"finalizers", "ownerReferences"})
	case Strategic:
		g.strategic(op, o)
	case Put:
		op.Owners, op.Finalizers = unrenamed(o, g.newOwners(o, op.Key)), g.newFinalizers(o)
		op.Label = one(g, []string{"", "x", "y"})
	case Merge:
		op.Set = one(
			g, []Fields{SetOwners, SetOwners, SetFinalizers, SetFinalizers, SetFinalizers, SetLabel, SetOwners | SetFinalizers},
		)
		if op.Set&SetOwners != 0 {
			op.Owners = unrenamed(o, g.newOwners(o, op.Key))
		}
		if op.Set&SetFinalizers != 0 {
			op.Finalizers = g.newFinalizers(o)
		}
		if op.Set&SetLabel != 0 {
			op.Label = one(g, []string{"", "x", "y"})
		}
	}
	op.DryRun = g.chance(3)
	if g.chance(6) && op.Verb != JSON && op.Verb != Strategic {
		op.UID = one(g, []UID{o.UID, "x1"})
	}
	if g.chance(6) && op.Verb != JSON && op.Verb != Strategic {
		op.Version = one(g, []int64{Current, Stale})
	} else if op.Verb == Put && KindOf(op.Key.Kind).Custom && g.chance(90) { // a PUT without a version is always invalid
		op.Version = Current
	}
}

func (g *generator) strategic(op *Op, o Object) {
	if len(o.Owners) == 0 || g.chance(30) {
		if len(g.state) > 0 {
			op.Owners = unrenamed(o, []Owner{g.owner(op.Key)})
		}
		return
	}
	r := one(g, o.Owners)
	if g.chance(50) {
		op.Drop = []UID{r.UID}
		return
	}
	r.Block = one(g, []Tri{False, True})
	op.Owners = []Owner{r}
}

// unrenamed keeps the names and kinds of references that the object already has. If a patch changed them, the result
// would depend on whether the collector has verified the reference before, and a state does not contain that (J-15).
func unrenamed(o Object, owners []Owner) []Owner {
	all := slices.Clone(owners)
	for i, r := range all {
		if at := slices.IndexFunc(o.Owners, func(was Owner) bool { return was.UID == r.UID }); at >= 0 {
			all[i] = o.Owners[at]
			all[i].Block = r.Block
		}
	}
	return all
}

// newOwners returns other references, or fewer, or more.
func (g *generator) newOwners(o Object, key Key) []Owner {
	switch {
	case len(g.state) == 0 || g.chance(20):
		return nil
	case len(o.Owners) > 0 && g.chance(30):
		return o.Owners[:len(o.Owners)-1]
	case g.chance(40):
		return append(slices.Clone(o.Owners), g.owner(key))
	}
	return g.owners(key)
}

// newFinalizers returns the object's next finalizers, usually fewer.
func (g *generator) newFinalizers(o Object) []string {
	switch {
	case g.chance(50):
		return nil
	case len(o.Finalizers) > 0 && g.chance(60):
		return o.Finalizers[1:]
	}
	return g.finalizers()
}
