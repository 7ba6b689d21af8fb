package main

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

type work struct {
	// kinds has the changes of each kind, by package and name.
	kinds map[string][]change
	// also has, for each kind, the kinds that list the changes of the types that both have.
	also map[string][]string
	rest []change
}

// sorted groups changes by kind. A kind has the types within it, and its list. A type that several kinds have belongs
// to the nearest kind of its package, or to no kind if its package has none of them.
func sorted(changes []change, kinds []string, refs map[string][]string) work {
	w := work{kinds: map[string][]change{}, also: map[string][]string{}}
	home, within := map[string]string{}, map[string]map[string]int{}
	near := map[string]int{}
	for _, kind := range kinds {
		home[kind+"List"] = kind
		within[kind] = distances(kind, refs)
		for of, n := range within[kind] {
			if best, ok := near[of]; path.Dir(of) == path.Dir(kind) && (!ok || n < best) {
				home[of], near[of] = kind, n
			}
		}
	}
	changed := map[string]bool{}
	for _, c := range changes {
		of := path.Join(c.pkg, c.typ)
		kind, ok := home[of]
		if !ok || c.typ == "" {
			w.rest = append(w.rest, c)
			continue
		}
		w.kinds[kind] = append(w.kinds[kind], c)
		changed[of] = true
	}
	for kind, types := range within {
		for of := range types {
			if changed[of] && home[of] != kind && !slices.Contains(w.also[kind], home[of]) {
				w.also[kind] = append(w.also[kind], home[of])
			}
		}
		slices.Sort(w.also[kind])
	}
	return w
}

// distances returns the types within a kind, with the number of types on the path to each.
func distances(kind string, refs map[string][]string) map[string]int {
	all, next := map[string]int{kind: 0}, []string{kind}
	for len(next) > 0 {
		of := next[0]
		next = next[1:]
		for _, to := range refs[of] {
			if _, ok := all[to]; !ok {
				all[to] = all[of] + 1
				next = append(next, to)
			}
		}
	}
	return all
}

// kindsOf returns the kinds of both versions, without lists and without the kinds that all groups have.
func kindsOf(sides ...*reader) []string {
	all := map[string]bool{}
	for _, r := range sides {
		for f := range r.facts {
			if f.section == kinds && !strings.HasSuffix(f.name, "List") && !strings.HasPrefix(f.pkg, "k8s.io/apimachinery/") {
				all[path.Join(f.pkg, f.name)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

var gateNames = regexp.MustCompile(`\+featureGate=(\S+)|if(?:En|Dis)abled\((\w+)\)`)

// newGates returns the feature gates that changes of a kind name for the first time.
func newGates(changes []change) string {
	before, after := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		for text, to := range map[string]map[string]bool{c.before: before, c.after: after} {
			for _, m := range gateNames.FindAllStringSubmatch(text, -1) {
				to[cmp.Or(m[1], m[2])] = true
			}
		}
	}
	maps.DeleteFunc(after, func(name string, _ bool) bool { return before[name] })
	return strings.Join(slices.Sorted(maps.Keys(after)), ", ")
}

// title returns group/version/Kind for a kind of k8s.io/api, and the package and the kind for others.
func title(kind string) string { return strings.TrimPrefix(kind, "k8s.io/api/") }
