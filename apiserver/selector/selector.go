package selector

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"
)

// fewTerms is up to how many terms are checked one after the other.
const fewTerms = 8

// Matcher is the method of labels.Selector that matches objects.
type Matcher interface {
	Matches(labels.Labels) bool
}

// Of returns a selector's matcher; nil if it selects all objects.
func Of(s labels.Selector) Matcher {
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

// negative are the operators that also select objects without the label.
var negative = []selection.Operator{selection.NotIn, selection.NotEquals, selection.DoesNotExist}

func isLong(r labels.Requirement) bool { return len(r.ValuesUnsorted()) > fewTerms }

// manyTerms is a selector that checks only the terms for labels that an object has. It selects the same objects as the
// selector that it was made from. The time for an object of few labels does not grow with the number of terms.
type manyTerms struct {
	terms map[string][]term
	// present is the number of labels that an object must have.
	present int
}

// term is a requirement; present says that the label must exist. values are those of "in" and "notin" if there are
// many.
type term struct {
	labels.Requirement
	present bool
	values  sets.Set[string]
}

// Matches reports whether the selector matches these labels, which are a labels.Set.
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

// allows reports whether the requirement accepts the value of an existing label.
func (t *term) allows(set labels.Set, value string) bool {
	if t.values != nil {
		return t.values.Has(value) == t.present
	}
	return t.Requirement.Matches(set)
}
