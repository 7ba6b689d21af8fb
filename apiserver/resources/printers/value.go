package printers

import (
	"fmt"
	"strings"
)

// value returns what p points to, or fallback.
func value[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// or returns s, or fallback for an empty one.
func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// truth is how a printed boolean looks where the cell is a string.
func truth(b *bool) string {
	switch {
	case b == nil:
		return unset
	case *b:
		return "True"
	default:
		return "False"
	}
}

// shorten joins the first most of all and counts the rest.
func shorten(all []string, most int, separator string) string {
	if len(all) <= most {
		return strings.Join(all, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], separator), len(all)-most)
}
