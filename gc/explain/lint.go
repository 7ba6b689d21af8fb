package explain

import (
	"cmp"
	"fmt"
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
	// MissingOwner: no object has the uid of an owner reference.
	MissingOwner Rule = "MissingOwner"
	// OwnerElsewhere: the owner exists in another namespace.
	OwnerElsewhere Rule = "OwnerInOtherNamespace"
	// WrongOwner: an object has the uid, but another name, kind or apiVersion than the reference says.
	WrongOwner Rule = "WrongOwnerReference"
	// UnservedOwner: the owner's kind is not served.
	UnservedOwner Rule = "OwnerKindNotServed"
	// NamespacedOwner: a cluster-scoped object names an owner in a namespace.
	NamespacedOwner Rule = "NamespacedOwner"
	// Cycle: objects own each other.
	Cycle Rule = "OwnerCycle"
	// BothFinalizers: an object has both finalizers of the collector.
	BothFinalizers Rule = "BothCollectorFinalizers"
	// StrangeFinalizer: nothing is known of the component that removes a finalizer.
	StrangeFinalizer Rule = "UnknownFinalizer"
	// Stuck: an object has been terminating for longer than its grace period and Patience.
	Stuck Rule = "StuckTerminating"
)

// Patience is how long after its grace period an object that is being deleted is not called stuck.
const Patience = 5 * time.Minute

// Finding is a problem of ownership.
type Finding struct {
	Rule   Rule            `json:"rule"`
	Object ObjectReference `json:"object"`
	Text   string          `json:"message"`
	// Harm is what it leads to.
	Harm string `json:"consequence"`
	// Others are how many further objects have the same; the finding is then of one of them.
	Others int `json:"others,omitempty"`
}

// Lint looks for problems of ownership in all objects of the namespace, or of the cluster if that is empty. The
// findings
// are sorted by rule and object.
func (c *Cluster) Lint(namespace string) []Finding {
	x := c.index()
	all := make([]*Object, len(c.Objects))
	for i := range c.Objects {
		all[i] = &c.Objects[i]
	}
	l := &linter{index: x, w: x.world(all, allWorkers)}
	l.cycles()
	for _, o := range all {
		l.references(o)
		l.lifecycle(o)
	}
	within := l.findings[:0]
	for _, f := range l.findings {
		if namespace == "" || f.Object.Namespace == namespace || f.Object.resource == "namespaces" &&
			f.Object.Name == namespace {
			within = append(within, f)
		}
	}
	slices.SortStableFunc(within, func(a, b Finding) int {
		return cmp.Or(strings.Compare(string(a.Rule), string(b.Rule)), a.Object.Key().Compare(b.Object.Key()))
	})
	return fold(within)
}

// fold keeps one finding of each unknown finalizer.
func fold(findings []Finding) (folded []Finding) {
	first := map[string]int{}
	for _, f := range findings {
		if f.Rule == StrangeFinalizer {
			if i, ok := first[f.Text]; ok {
				folded[i].Others++
				continue
			}
			first[f.Text] = len(folded)
		}
		folded = append(folded, f)
	}
	return folded
}

type linter struct {
	*index
	w        *world
	findings []Finding
}

func (l *linter) add(rule Rule, o *Object, harm, format string, args ...any) {
	l.findings = append(l.findings, Finding{Rule: rule, Object: l.ref(o), Text: fmt.Sprintf(format, args...), Harm: harm})
}

// references checks an object's owner references.
func (l *linter) references(o *Object) {
	s, _ := l.w.g.Standing(o.Key)
	for i, v := range s.Verdicts {
		r := o.Owners[i]
		name := fmt.Sprintf("owner %s %s (apiVersion %s, uid %s)", r.Kind, r.Name, r.APIVersion, r.UID)
		switch v {
		case graph.Undecidable:
			if !l.unknown(r) {
				l.add(UnservedOwner, o, "the object is never collected while the kind is not served", "%s: not served", name)
			}
		case graph.OutOfReach:
			l.add(NamespacedOwner, o, "the object is never collected", "%s: a cluster-scoped object can't be owned by one in a"+
				" namespace", name)
		case graph.Dangling:
			l.dangling(o, r, name, harm(o, s.Owners))
		}
	}
}

// harm is what the collector does about an object with such owners.
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

// dangling tells why there is no such owner.
func (l *linter) dangling(o *Object, r graph.Owner, name, harm string) {
	found := l.uids[r.UID]
	if len(found) == 0 {
		l.add(MissingOwner, o, harm, "%s: does not exist", name)
		return
	}
	owner := l.ref(found[0])
	if owner.Namespace != "" && owner.Namespace != o.Key.Namespace {
		l.add(OwnerElsewhere, o, harm, "%s: is in namespace %s", name, owner.Namespace)
		return
	}
	l.add(WrongOwner, o, harm, "%s: the object with this uid is %s %s (apiVersion %s)", name, owner.Kind, owner.Name,
		owner.APIVersion)
}

// unknown reports whether the reference names a resource whose objects are not known.
func (l *linter) unknown(r graph.Owner) bool {
	group, _, named := strings.Cut(r.APIVersion, "/")
	if !named {
		group = ""
	}
	for _, res := range l.resources {
		if res.Unknown != "" && res.Kind == r.Kind && res.Group == group {
			return true
		}
	}
	return false
}

// lifecycle checks an object's finalizers and its deletion.
func (l *linter) lifecycle(o *Object) {
	if slices.Contains(o.Finalizers, finalizers.Orphan) && slices.Contains(o.Finalizers, finalizers.Foreground) {
		l.add(BothFinalizers, o, "when it is deleted, its dependents are orphaned, and it may stay",
			"has the finalizers orphan and foregroundDeletion")
	}
	for _, f := range o.Finalizers {
		if Lookup(f) == nil {
			l.add(StrangeFinalizer, o, "the object can't be removed without the component that removes the finalizer",
				"finalizer %s: not known", f)
		}
	}
	if !o.Deletion.IsZero() && l.c.Now.Sub(o.Deletion) > Patience {
		held := strings.Join(l.w.holds(o), ", ")
		l.add(Stuck, o, "ask why", "has been terminating for %s; finalizers: %s",
			Age(l.c.Now.Sub(o.begun())), cmp.Or(held, "none"))
	}
}

// cycles finds objects that own each other, or themselves: the strongly connected parts of the graph of references, by
// Tarjan's algorithm, without recursion.
func (l *linter) cycles() {
	t := tarjan{l: l, index: map[*Object]int{}, low: map[*Object]int{}, on: map[*Object]bool{}}
	for i := range l.c.Objects {
		if o := &l.c.Objects[i]; len(o.Owners) > 0 && t.index[o] == 0 {
			t.visit(o)
		}
	}
}

type tarjan struct {
	l          *linter
	index, low map[*Object]int
	on         map[*Object]bool
	stack      []*Object
	n          int
}

// step is an object in the midst of the search, and the next owner to look at.
type step struct {
	o      *Object
	owners []*Object
}

func (t *tarjan) visit(root *Object) {
	path := []step{t.enter(root)}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if len(at.owners) > 0 {
			owner := at.owners[0]
			at.owners = at.owners[1:]
			switch {
			case t.index[owner] == 0:
				path = append(path, t.enter(owner))
			case t.on[owner]:
				t.low[at.o] = min(t.low[at.o], t.index[owner])
			}
			continue
		}
		o := at.o
		path = path[:len(path)-1]
		if len(path) > 0 {
			below := path[len(path)-1].o
			t.low[below] = min(t.low[below], t.low[o])
		}
		if t.low[o] == t.index[o] {
			t.part(o)
		}
	}
}

func (t *tarjan) enter(o *Object) step {
	t.n++
	t.index[o], t.low[o], t.on[o] = t.n, t.n, true
	t.stack = append(t.stack, o)
	s := step{o: o}
	for _, r := range o.Owners {
		s.owners = append(s.owners, t.l.uids[r.UID]...)
	}
	return s
}

// part takes a strongly connected part from the stack.
func (t *tarjan) part(first *Object) {
	i := slices.Index(t.stack, first)
	part := slices.Clone(t.stack[i:])
	t.stack = t.stack[:i]
	blocking := true
	var names []string
	for _, o := range part {
		t.on[o] = false
		names = append(names, t.l.ref(o).Kind+" "+o.Name)
		blocking = blocking && slices.ContainsFunc(o.Owners, func(r graph.Owner) bool {
			return r.Block && slices.ContainsFunc(part, func(p *Object) bool { return p.UID == r.UID })
		})
	}
	if len(part) == 1 && !slices.ContainsFunc(first.Owners, func(r graph.Owner) bool { return r.UID == first.UID }) {
		return
	}
	slices.Sort(names)
	harm := "none of them is collected as long as the others exist"
	if len(part) == 1 && blocking { // differences.md: here it goes
		harm = "Kubernetes never removes it if it is deleted in the foreground"
	}
	t.l.add(Cycle, first, harm, "own each other: %s", strings.Join(names, ", "))
}
