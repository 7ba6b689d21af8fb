package fieldmanager

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// fewFields is the size of fields, in bytes, that may be in any order.
const fewFields = 16 << 10

// Sorted returns entries whose fields are in the order in which they are encoded, and reports whether that changed
// them. The library that decodes them inserts each field that is not the last into a sorted list: 130,000 fields in
// another order copy 300 GB (structured-merge-diff, fieldpath/serialize.go: readIterV1). The argument is not changed.
func Sorted(entries []metav1.ManagedFieldsEntry) (out []metav1.ManagedFieldsEntry, changed bool) {
	out = entries
	for i, e := range entries {
		if e.FieldsV1 == nil || len(e.FieldsV1.Raw) < fewFields || !json.Valid(e.FieldsV1.Raw) {
			continue
		}
		raw, changes := sortFields(e.FieldsV1.Raw)
		if !changes {
			continue
		}
		if !changed {
			out, changed = slices.Clone(entries), true
		}
		out[i].FieldsV1 = &metav1.FieldsV1{Raw: raw}
	}
	return out, changed
}

// fieldMember is a field in its set: its name encoded and decoded, and the path element that it represents, if known.
type fieldMember struct {
	name, value []byte
	key         jsonscan.String
	element     fieldpath.PathElement
	known       bool
}

// sortFields sorts the members of a JSON object and its nested objects. Names that are not fields come first.
func sortFields(raw []byte) (out []byte, changed bool) {
	members := split(raw)
	for i := range members {
		m := &members[i]
		element, err := fieldpath.DeserializePathElement(m.key.Value())
		m.element, m.known = element, err == nil
		value, changes := sortFields(m.value)
		m.value, changed = value, changed || changes
	}
	order := func(a, b fieldMember) int {
		switch {
		case a.known && b.known:
			return a.element.Compare(b.element)
		case a.known:
			return 1
		case b.known:
			return -1
		}
		return 0
	}
	if !slices.IsSortedFunc(members, order) {
		slices.SortStableFunc(members, order)
		changed = true
	}
	if !changed {
		return raw, false
	}
	out = append(make([]byte, 0, len(raw)), '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	return append(out, '}'), true
}

// split returns the members of valid JSON if it is an object.
func split(raw []byte) (members []fieldMember) {
	s := jsonscan.New(raw)
	if !s.Open('{') {
		return nil
	}
	for first := true; ; first = false {
		name, at, ok := s.Key(first)
		if !ok {
			return members
		}
		s.Peek()
		from := s.Offset()
		s.Skip()
		members = append(members, fieldMember{name: raw[at : at+len(name.Raw)+2], key: name, value: s.From(from)})
	}
}
