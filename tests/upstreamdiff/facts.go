package main

import (
	"cmp"
	"maps"
	"slices"
)

// section is a part of the work list. The order is that of the list.
type section int

const (
	kinds section = iota
	fields
	enums
	rules
	gates
	messages
	files
)

var titles = map[section]string{
	kinds:    "Kinds",
	fields:   "Fields: type, tags and markers",
	enums:    "Constants of string types",
	rules:    "Declarative rules (+k8s: tags)",
	gates:    "Feature gates",
	messages: "Texts of errors",
	files:    "Other changed packages",
}

// fact is a declaration in a version of a module: its section, package and name. typ is the type to which it belongs,
// or empty.
type fact struct {
	section        section
	pkg, typ, name string
}

// facts maps each fact to its value, or to an empty string if it has none.
type facts map[fact]string

// change is a fact whose value differs. Without is a version that does not have the fact.
type change struct {
	fact
	before, after string
	added, gone   bool
}

// diff returns the changes, sorted by section, package and name.
func diff(before, after facts) []change {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var changes []change
	for f := range all {
		was, had := before[f]
		is, has := after[f]
		if had != has || was != is {
			changes = append(changes, change{fact: f, before: was, after: is, added: !had, gone: !has})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
	})
	return changes
}
