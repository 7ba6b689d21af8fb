package printing

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ShownEndpoints is how many addresses or ports are listed; the others are counted.
const ShownEndpoints = 3

// Distinct sorts addresses and removes empty and repeated ones.
func Distinct(addresses []string) []string {
	addresses = slices.DeleteFunc(addresses, func(a string) bool { return a == "" })
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// Value returns what p points to, or fallback.
func Value[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// Or returns s, or fallback for an empty one.
func Or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// Shorten joins the first most elements of all and counts the others.
func Shorten(all []string, most int, separator string) string {
	if len(all) <= most {
		return strings.Join(all, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], separator), len(all)-most)
}

// Selector prints a deployment's selector. Unlike metav1.FormatLabelSelector, which the other kinds use, it prints an
// empty selector as an empty string and an invalid one as "<invalid>".
func Selector(s *metav1.LabelSelector) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}
