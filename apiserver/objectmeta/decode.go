package objectmeta

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Decode reads metadata, which must be valid JSON, into m. It reports false, and leaves m alone, if it isn't
// written as it is stored; then a decoder that knows all of JSON must read it.
func Decode(data []byte, m *metav1.ObjectMeta) bool {
	r := reader{b: data}
	out := r.meta()
	if r.odd || r.i != len(data) {
		return false
	}
	*m = out
	return true
}

// reader goes over JSON from front to back. Once something is odd, what it returns means nothing.
type reader struct {
	b   []byte
	i   int
	odd bool
	// first says that the innermost object or array has had no member yet.
	first bool
}

func (r *reader) meta() (m metav1.ObjectMeta) {
	r.open('{')
	if r.member(`"name":`) {
		m.Name = r.text()
	}
	if r.member(`"generateName":`) {
		m.GenerateName = r.text()
	}
	if r.member(`"namespace":`) {
		m.Namespace = r.text()
	}
	if r.member(`"selfLink":`) {
		m.SelfLink = r.text()
	}
	if r.member(`"uid":`) {
		m.UID = types.UID(r.text())
	}
	if r.member(`"resourceVersion":`) {
		m.ResourceVersion = r.text()
	}
	if r.member(`"generation":`) {
		m.Generation = r.integer()
	}
	if r.member(`"creationTimestamp":`) {
		m.CreationTimestamp = r.time()
	}
	if r.member(`"deletionTimestamp":`) {
		t := r.time()
		m.DeletionTimestamp = &t
	}
	if r.member(`"deletionGracePeriodSeconds":`) {
		n := r.integer()
		m.DeletionGracePeriodSeconds = &n
	}
	if r.member(`"labels":`) {
		m.Labels = r.texts()
	}
	if r.member(`"annotations":`) {
		m.Annotations = r.texts()
	}
	if r.member(`"ownerReferences":`) {
		m.OwnerReferences = list(r, r.owner)
	}
	if r.member(`"finalizers":`) {
		m.Finalizers = list(r, r.text)
	}
	if r.member(`"managedFields":`) {
		m.ManagedFields = list(r, r.entry)
	}
	r.close('}')
	return m
}

func (r *reader) owner() (o metav1.OwnerReference) {
	r.open('{')
	if r.member(`"apiVersion":`) {
		o.APIVersion = r.text()
	}
	if r.member(`"kind":`) {
		o.Kind = r.text()
	}
	if r.member(`"name":`) {
		o.Name = r.text()
	}
	if r.member(`"uid":`) {
		o.UID = types.UID(r.text())
	}
	if r.member(`"controller":`) {
		o.Controller = r.boolean()
	}
	if r.member(`"blockOwnerDeletion":`) {
		o.BlockOwnerDeletion = r.boolean()
	}
	r.close('}')
	return o
}

func (r *reader) entry() (e metav1.ManagedFieldsEntry) {
	r.open('{')
	if r.member(`"manager":`) {
		e.Manager = r.text()
	}
	if r.member(`"operation":`) {
		e.Operation = metav1.ManagedFieldsOperationType(r.text())
	}
	if r.member(`"apiVersion":`) {
		e.APIVersion = r.text()
	}
	if r.member(`"time":`) {
		t := r.time()
		e.Time = &t
	}
	if r.member(`"fieldsType":`) {
		e.FieldsType = r.text()
	}
	if r.member(`"fieldsV1":`) {
		e.FieldsV1 = &metav1.FieldsV1{}
		e.FieldsV1.SetRawBytes(r.object()) // which copies
	}
	if r.member(`"subresource":`) {
		e.Subresource = r.text()
	}
	r.close('}')
	return e
}

// list reads an array.
func list[T any](r *reader, one func() T) []T {
	all := []T{} // an empty array isn't none
	r.open('[')
	for r.more(']') {
		all = append(all, one())
		r.first = false
	}
	r.close(']')
	return all
}

// texts reads an object of strings.
func (r *reader) texts() map[string]string {
	all := map[string]string{}
	r.open('{')
	for r.more('}') {
		k := r.text()
		r.expect(':')
		all[k] = r.text()
		r.first = false
	}
	r.close('}')
	return all
}

func (r *reader) open(bracket byte) {
	r.expect(bracket)
	r.first = true
}

// close ends the innermost object or array, which was a value in another.
func (r *reader) close(bracket byte) {
	r.expect(bracket)
	r.first = false
}

// more reports whether there is another member or element, and stands before it.
func (r *reader) more(bracket byte) bool {
	if r.odd || r.next() == bracket {
		return false
	}
	if !r.first {
		r.expect(',')
	}
	return !r.odd
}

// member passes the name of a member, given with its quotes and colon, if it is next.
func (r *reader) member(name string) bool {
	from := r.i
	if !r.first {
		if r.next() != ',' {
			return false
		}
		from++
	}
	to := from + len(name)
	if to > len(r.b) || string(r.b[from:to]) != name {
		return false
	}
	r.i, r.first = to, false
	return true
}

// next is the next byte; 0 at the end.
func (r *reader) next() byte {
	if r.i < len(r.b) {
		return r.b[r.i]
	}
	return 0
}

func (r *reader) expect(c byte) {
	if r.next() != c {
		r.odd = true
		r.i = len(r.b) // where every loop ends
		return
	}
	r.i++
}

// quoted passes a string. plain says that what stands between its quotes is its value.
func (r *reader) quoted() (raw []byte, plain bool) {
	from := r.i
	r.expect('"')
	plain, ascii := true, true
	for ; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; {
		case c == '"':
			r.i++
			raw = r.b[from:r.i]
			return raw, plain && (ascii || utf8.Valid(raw))
		case c == '\\':
			plain = false
			r.i++
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	r.odd = true
	return nil, false
}

func (r *reader) text() (s string) {
	raw, plain := r.quoted()
	switch {
	case r.odd:
	case !plain:
		r.odd = json.Unmarshal(raw, &s) != nil
	default:
		switch between := raw[1 : len(raw)-1]; string(between) { // what nearly every entry has isn't copied
		case string(metav1.ManagedFieldsOperationUpdate):
			s = string(metav1.ManagedFieldsOperationUpdate)
		case string(metav1.ManagedFieldsOperationApply):
			s = string(metav1.ManagedFieldsOperationApply)
		case fieldsV1:
			s = fieldsV1
		case v1:
			s = v1
		default:
			s = string(between)
		}
	}
	return s
}

const (
	fieldsV1 = "FieldsV1"
	v1       = "v1"
)

func (r *reader) integer() int64 {
	from := r.i
	for c := r.next(); c == '-' || '0' <= c && c <= '9'; c = r.next() {
		r.i++
	}
	n, err := strconv.ParseInt(string(r.b[from:r.i]), 10, 64)
	r.odd = r.odd || err != nil
	return n
}

func (r *reader) boolean() *bool {
	is := r.next() == 't'
	word := "false"
	if is {
		word = "true"
	}
	if to := r.i + len(word); to <= len(r.b) && string(r.b[r.i:to]) == word {
		r.i = to
		return &is
	}
	r.odd = true
	return nil
}

// time is read as metav1.Time reads it, in the zone of this machine.
func (r *reader) time() metav1.Time {
	t, err := time.Parse(time.RFC3339, r.text())
	r.odd = r.odd || err != nil
	return metav1.Time{Time: t.Local()}
}

// object passes an object of whatever members.
func (r *reader) object() []byte {
	from := r.i
	if r.next() != '{' {
		r.odd = true
		return nil
	}
	for depth := 0; r.i < len(r.b); {
		switch r.b[r.i] {
		case '"':
			r.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		r.i++
		if depth == 0 {
			return r.b[from:r.i]
		}
	}
	r.odd = true
	return nil
}
