package fieldmanager

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// fewFields is the size of fields, in bytes, below which they are not sorted.
const fewFields = 16 << 10

// Sorted returns entries with their fields in the order of their encoding, and reports whether it has changed any. The
// library that decodes them inserts each field that is not the last into a sorted list: 130,000 unsorted fields would
// copy 300 GB (structured-merge-diff, fieldpath/serialize.go: readIterV1). It does not modify its argument.
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

// fieldMember is a field of a set: its name, encoded and decoded, and its path element, if the name is valid.
type fieldMember struct {
	name, value []byte
	key         jsonscan.String
	element     fieldpath.PathElement
	known       bool
}

// sortFields sorts the members of a JSON object and of its nested objects. Names that are not fields come first.
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

// split returns the members of a valid JSON object. It returns nil for other JSON.
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
