package graph

import (
	"slices"
)

// Standing is an object's place among its owners and dependents.
type Standing struct {
	Class Class
	// Move is the collector's present decision about the object. If the collector can't decide yet, it is Keep.
	Move   Move
	Owners Owners
	// Verdicts has the verdicts on the object's references, in their order.
	Verdicts []Verdict
	// Dependents are the objects that name its uid, sorted by key.
	Dependents []Dependent
}

// Dependent is an object that names another one's uid.
type Dependent struct {
	Key Key
	// Blocking: one of the references has blockOwnerDeletion (D-43).
	Blocking bool
}

// Standing returns the object's place in the graph; ok is false if there is no object at the key.
func (g *Graph) Standing(k Key) (s Standing, ok bool) {
	n := g.nodes[g.place(k)]
	if n == nil {
		return Standing{}, false
	}
	s.Class = n.class()
	s.Move, _ = g.decide(n)
	s.Owners, _ = g.owners(n)
	for i := range n.refs {
		v, _ := g.classify(n, &n.refs[i])
		s.Verdicts = append(s.Verdicts, v)
	}
	for e := n.dependents(); e != nil; e = e.next {
		s.Dependents = append(s.Dependents, Dependent{Key: e.dependent.key(), Blocking: e.blocking})
	}
	slices.SortFunc(s.Dependents, func(a, b Dependent) int { return a.Key.Compare(b.Key) })
	return s, true
}
