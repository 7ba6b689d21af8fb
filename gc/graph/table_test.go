package graph

import (
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTableDecidesAsRules compares the table with the text of the rules, in every situation.
func TestTableDecidesAsRules(t *testing.T) {
	used := map[int]bool{}
	for s := range situations() {
		if got, want := Decide(s), byRules(s); got != want {
			t.Errorf("%+v: got %s, want %s", s, got, want)
		}
		used[slices.IndexFunc(table, func(r row) bool { return r.fits(s) })] = true
	}
	if len(used) != len(table) || used[-1] {
		t.Errorf("rows that decide something: %v of %d", used, len(table))
	}
}

func situations() func(func(Situation) bool) {
	return func(yield func(Situation) bool) {
		for i := range 6 * 7 * 3 * 2 * 2 {
			s := Situation{
				Life: Life(i % 6), Owners: Owners(i / 6 % 7), Dependents: Dependents(i / 42 % 3),
				Released: i/126%2 == 1, Cyclic: i/252%2 == 1,
			}
			if !yield(s) {
				return
			}
		}
	}
}

func byRules(s Situation) Move {
	if s.Released { // D-60
		return DropOwners
	}
	switch s.Life {
	case Terminating: // D-31
		return Keep
	case OrphaningLife:
		if s.Dependents == NoDependents {
			return ReleaseOrphan
		}
		return Keep
	case ForegroundLife: // D-43
		switch {
		case s.Cyclic:
			return UnblockOwners
		case s.Dependents == HoldingDependents:
			return Keep
		}
		return ReleaseForeground
	}
	switch s.Owners {
	case NoOwners, SolidOwners, UndecidableOwners, UnreachableOwners:
		return Keep
	case MixedOwners: // D-39
		return DropOwners
	case WaitingOwners: // D-40
		if s.Dependents != NoDependents {
			return DeleteForeground
		}
	}
	return map[Life]Move{Live: DeleteBackground, LiveOrphan: DeleteOrphan, LiveForeground: DeleteForeground}[s.Life]
}

// TestPackageIsPure keeps the package pure: the same events must give the same actions.
func TestPackageIsPure(t *testing.T) {
	reasons := map[string]string{
		"net": "no I/O", "os": "no I/O", "io": "no I/O", "time": "no clock: the queue of gc owns time",
		"context": "nothing here waits", "sync": "one owner, no locks", "math/rand": "no randomness",
	}
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range packages["graph"].Files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			for forbidden, why := range reasons {
				if path == forbidden || strings.HasPrefix(path, forbidden+"/") {
					t.Errorf("%s imports %s: %s", name, path, why)
				}
			}
			if strings.Contains(path, ".") {
				t.Errorf("%s imports %s: only the standard library, so that a decision can be read alone", name, path)
			}
		}
	}
}
