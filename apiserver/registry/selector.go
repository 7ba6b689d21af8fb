package registry

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"
)

// fewTerms are looked at one after the other.
const fewTerms = 8

// labelMatcher is the part of labels.Selector that is asked about objects.
type labelMatcher interface {
	Matches(labels.Labels) bool
}

// MatcherOf returns a selector's matcher; nil if all objects are selected.
func MatcherOf(s labels.Selector) labelMatcher {
	if s == nil || s.Empty() {
		return nil
	}
	all, selectable := s.Requirements()
	if !selectable || len(all) <= fewTerms && !slices.ContainsFunc(all, isLong) {
		return s
	}
	m := &manyTerms{terms: map[string][]term{}}
	for _, r := range all {
		t := term{Requirement: r, present: !slices.Contains(negative, r.Operator())}
		if isLong(r) {
			t.values = sets.New(r.ValuesUnsorted()...)
		}
		if t.present && !slices.ContainsFunc(m.terms[r.Key()], func(t term) bool { return t.present }) {
			m.present++
		}
		m.terms[r.Key()] = append(m.terms[r.Key()], t)
	}
	return m
}

// negative are the operators that select objects without the label.
var negative = []selection.Operator{selection.NotIn, selection.NotEquals, selection.DoesNotExist}

func isLong(r labels.Requirement) bool { return len(r.ValuesUnsorted()) > fewTerms }

// manyTerms is a selector that looks only at the terms for labels that an object has. It decides as the selector that
// it was made of does, for an object of few labels in a time that doesn't grow with the number of terms.
type manyTerms struct {
	terms map[string][]term
	// present is how many labels an object must have.
	present int
}

// term is a requirement; present says that the label must be there. values are those of "in" and "notin" if they are
// many.
type term struct {
	labels.Requirement
	present bool
	values  sets.Set[string]
}

// Matches reports whether the selector selects an object with such labels, which are a labels.Set.
func (m *manyTerms) Matches(of labels.Labels) bool {
	set := of.(labels.Set)
	present := 0
	for name, value := range set {
		required := false
		for i := range m.terms[name] {
			t := &m.terms[name][i]
			if !t.allows(set, value) {
				return false
			}
			required = required || t.present
		}
		if required {
			present++
		}
	}
	return present == m.present
}

// allows is the requirement's answer for a label that is there.
func (t *term) allows(set labels.Set, value string) bool {
	if t.values != nil {
		return t.values.Has(value) == t.present
	}
	return t.Requirement.Matches(set)
}
