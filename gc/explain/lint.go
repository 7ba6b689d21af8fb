package explain

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Rule is a rule of lint.
type Rule string

// The rules.
const (
	MissingOwner     Rule = "MissingOwner"            // no object has the uid of an owner reference
	OwnerElsewhere   Rule = "OwnerInOtherNamespace"   // the owner exists in another namespace
	WrongOwner       Rule = "WrongOwnerReference"     // an object has the uid, but another name, kind or apiVersion
	UnservedOwner    Rule = "OwnerKindNotServed"      // the owner's kind is not served
	NamespacedOwner  Rule = "NamespacedOwner"         // a cluster-scoped object names an owner in a namespace
	Cycle            Rule = "OwnerCycle"              // objects own each other
	BothFinalizers   Rule = "BothCollectorFinalizers" // an object has both finalizers of the collector
	StrangeFinalizer Rule = "UnknownFinalizer"        // nothing is known of the component that removes a finalizer
	Stuck            Rule = "StuckTerminating"        // terminating for longer than the grace period and patience
)

// patience is the time after the grace period from which a terminating object is reported as stuck.
const patience = 5 * time.Minute

// Finding is a problem of ownership.
type Finding struct {
	Rule   Rule            `json:"rule"`
	Object ObjectReference `json:"object"`
	Text   string          `json:"message"`
	Harm   string          `json:"consequence"` // what it leads to
	// Others is the number of further objects with the same problem.
	Others int `json:"others,omitempty"`
}

// Lint finds problems of ownership in all objects of the namespace, or of the cluster if that is empty. The findings
// are sorted by rule and object.
func (x *Index) Lint(namespace string) []Finding {
	l := &linter{world: x.world(x.c.Objects, allWorkers)}
	l.cycles()
	for _, o := range x.c.Objects {
		l.references(o)
		l.lifecycle(o)
	}
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(string(a.Rule), string(b.Rule)), a.Object.Key().Compare(b.Object.Key()))
	})
	var folded []Finding // with one finding of each unknown finalizer
	first := map[string]int{}
	for _, f := range l.findings {
		i, ok := first[f.Text]
		switch {
		case namespace != "" && f.Object.Namespace != namespace &&
			(f.Object.resource != namespaces || f.Object.Name != namespace):
		case ok && f.Rule == StrangeFinalizer:
			folded[i].Others++
		default:
			first[f.Text] = len(folded)
			folded = append(folded, f)
		}
	}
	return folded
}

type linter struct {
	*world
	findings []Finding
}

func (l *linter) add(rule Rule, o *Object, text, harm string) {
	l.findings = append(l.findings, Finding{Rule: rule, Object: l.ref(o), Text: text, Harm: harm})
}

func (l *linter) references(o *Object) {
	s, _ := l.g.Standing(o.Key)
	for i, v := range s.Verdicts {
		r := o.Owners[i]
		name := fmt.Sprintf("owner %s %s (apiVersion %s, uid %s): ", r.Kind, r.Name, r.APIVersion, r.UID)
		switch {
		case v == graph.Undecidable && l.unknown(r) == "":
			l.add(UnservedOwner, o, name+"not served", "the object is never collected while the kind is not served")
		case v == graph.OutOfReach:
			l.add(NamespacedOwner, o, name+"a cluster-scoped object can't be owned by one in a namespace",
				"the object is never collected")
		case v == graph.Dangling:
			rule, why := l.dangling(o, r)
			l.add(rule, o, name+why, harm(o, s.Owners))
		}
	}
}

// harm returns the effect of a dangling reference of an object with such owners.
func harm(o *Object, owners graph.Owners) string {
	switch {
	case !o.Deletion.IsZero():
		return "none: the object is being deleted"
	case owners == graph.MixedOwners:
		return "the collector removes the reference"
	case owners == graph.UndecidableOwners, owners == graph.UnreachableOwners:
		return "none as long as another owner can't be decided"
	}
	return "the collector deletes the object"
}

func (l *linter) dangling(o *Object, r graph.Owner) (rule Rule, why string) {
	found := l.uids[r.UID]
	if len(found) == 0 {
		return MissingOwner, "does not exist"
	}
	owner := l.ref(found[0])
	if owner.Namespace != "" && owner.Namespace != o.Namespace {
		return OwnerElsewhere, "is in namespace " + owner.Namespace
	}
	return WrongOwner, fmt.Sprintf("the object with this uid is %s %s (apiVersion %s)", owner.Kind, owner.Name,
		owner.APIVersion)
}

// unknown returns the reason why the objects of the resource that the reference names are not known; empty if they are.
func (x *Index) unknown(r graph.Owner) string {
	group := strings.TrimPrefix(path.Dir("/"+r.APIVersion), "/")
	for i := range x.c.Resources {
		if res := &x.c.Resources[i]; res.Unknown != "" && res.Kind == r.Kind && res.Group == group {
			return res.Unknown
		}
	}
	return ""
}

func (l *linter) lifecycle(o *Object) {
	if slices.Contains(o.Finalizers, finalizers.Orphan) && slices.Contains(o.Finalizers, finalizers.Foreground) {
		l.add(BothFinalizers, o, "has the finalizers orphan and foregroundDeletion",
			"when it is deleted, its dependents are orphaned, and it may stay")
	}
	for _, f := range o.Finalizers {
		if lookup(f).Component == "" {
			l.add(StrangeFinalizer, o, "finalizer "+f+": not known",
				"the object can't be removed without the component that removes the finalizer")
		}
	}
	if !o.Deletion.IsZero() && l.c.Now.Sub(o.Deletion) > patience {
		held := cmp.Or(strings.Join(l.holds(o), ", "), "none")
		l.add(Stuck, o, "has been terminating for "+age(l.c.Now.Sub(o.Begun()))+"; finalizers: "+held, "ask why")
	}
}

// cycles finds objects that own each other, or themselves: the strongly connected parts of the graph of references, by
// Tarjan's algorithm.
func (l *linter) cycles() {
	var left []*Object // those that have a number, without those of complete parts
	number := map[*Object]int{}
	var enter func(*Object) int // returns the least number in the object's part that its owners lead to
	enter = func(o *Object) int {
		if number[o] != 0 {
			return number[o]
		}
		at, own, least := len(left), len(number)+1, len(number)+1
		left, number[o] = append(left, o), own
		for _, owner := range l.owners(o) {
			least = min(least, enter(owner))
		}
		if least == own {
			for _, p := range left[at:] {
				number[p] = math.MaxInt
			}
			l.cycle(left[at:])
			left = left[:at]
		}
		return least
	}
	for _, o := range l.c.Objects {
		enter(o)
	}
}

// owners returns the owners that keep the object: not those of a dangling reference, for example.
func (l *linter) owners(o *Object) (owners []*Object) {
	s, _ := l.g.Standing(o.Key)
	for i, v := range s.Verdicts {
		if v == graph.Solid || v == graph.WaitingOwner {
			owners = append(owners, l.uids[o.Owners[i].UID]...)
		}
	}
	return owners
}

// cycle reports a strongly connected part, if it is more than an object that does not own itself.
func (l *linter) cycle(part []*Object) {
	slices.SortFunc(part, byKey)
	names := texts(part, func(o *Object) string { return l.ref(o).Kind + " " + o.Name })
	switch o := part[0]; {
	case len(part) > 1:
		l.add(Cycle, o, "own each other: "+strings.Join(first(10, names), ", "),
			"none of them is collected as long as the others exist")
	case !slices.Contains(l.owners(o), o):
	case slices.ContainsFunc(o.Owners, func(r graph.Owner) bool { return r.Block && r.UID == o.UID }):
		l.add(Cycle, o, "owns itself", "Kubernetes never removes it if it is deleted in the foreground") // here it does
	default:
		l.add(Cycle, o, "owns itself", "it is never collected")
	}
}
