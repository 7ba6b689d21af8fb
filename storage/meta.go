package storage

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// parser reads the metadata and the selected fields of an object in the same pass that validates it.
type parser struct {
	jsonscan.Scanner
	meta *Meta
	// kept holds the strings of one object together. They must not be parts of its JSON, or else a copy of the uid
	// would keep all of the JSON in memory.
	kept strings.Builder
	// values are the values found so far, by want.slot.
	values []string
}

// object parses the whole object.
func (p *parser) object(paths []FieldPath) (c cut) {
	var buf [8]want
	wants := p.wants(buf[:0], paths)
	if !p.Open('{') {
		return c
	}
	var typed jsonscan.String
	several := false
	for first := true; ; first = false {
		name, _, ok := p.Key(first)
		if !ok {
			return c
		}
		if first {
			typed = name
		}
		start := p.Offset()
		switch {
		case name.Is("metadata"):
			if c = p.metadata(typed); several {
				c.begin, c.end = 0, 0
			}
			several = true
		case name.Is("kind"):
			p.meta.Kind = p.str()
		case name.Is("apiVersion"):
			p.meta.APIVersion = p.str()
		default:
			p.field(name, wants)
			continue
		}
		if p.Err() == nil && wanted(name, wants) {
			end := p.Offset()
			p.Seek(start)
			p.field(name, wants)
			p.Seek(max(p.Offset(), end))
		}
	}
}

// metadata reads the value of metadata. If it is duplicate, the last counts, as in encoding/json.
func (p *parser) metadata(typed jsonscan.String) cut {
	*p.meta = Meta{APIVersion: p.meta.APIVersion, Kind: p.meta.Kind}
	if p.Null() {
		return cut{}
	}
	if !p.Open('{') {
		p.Fail("metadata: object expected")
		return cut{}
	}
	at := newPlace(typed, &p.Scanner)
	for first := true; ; first = false {
		name, where, ok := p.Key(first)
		if !ok {
			return at.cut(p.Offset())
		}
		at.see(name, where)
		if name.Is("resourceVersion") {
			p.Peek()
			at.from = p.Offset()
			p.Skip()
			at.to = p.Offset()
			continue
		}
		p.member(name)
	}
}

// member reads one member of metadata.
func (p *parser) member(name jsonscan.String) {
	if !name.Plain {
		name = jsonscan.String{Raw: name.Append(nil), Plain: true}
	}
	m := p.meta
	switch string(name.Raw) {
	case "name":
		m.Name = p.str()
	case "namespace":
		m.Namespace = p.str()
	case "uid":
		m.UID = p.str()
	case "generation":
		m.Generation, _ = p.integer()
	case "deletionGracePeriodSeconds":
		m.GracePeriodSeconds = nil
		if n, ok := p.integer(); ok {
			m.GracePeriodSeconds = &n
		}
	case "deletionTimestamp":
		m.Deletion = p.time()
	case "labels":
		m.Labels = p.labels()
	case "finalizers":
		m.Finalizers = nil
		p.each(func() { m.Finalizers = append(m.Finalizers, p.str()) })
	case "ownerReferences":
		m.Owners = nil
		p.each(func() { m.Owners = append(m.Owners, p.owner()) })
	default:
		p.Skip()
	}
}

// keep copies a JSON string.
func (p *parser) keep(t jsonscan.String) string {
	if p.kept.Cap() == 0 {
		p.kept.Grow(128)
	}
	from := p.kept.Len()
	if t.Plain {
		p.kept.Write(t.Raw)
	} else {
		p.kept.Write(t.Append(nil))
	}
	return p.kept.String()[from:]
}

// str reads a string; null is "".
func (p *parser) str() string {
	if p.Null() {
		return ""
	}
	if p.Peek() != '"' {
		p.Fail("string expected")
		return ""
	}
	return p.keep(p.ReadString())
}

// integer reads a whole number; ok is false for null.
func (p *parser) integer() (n int64, ok bool) {
	if p.Null() {
		return 0, false
	}
	n, err := strconv.ParseInt(string(p.Number()), 10, 64)
	if err != nil {
		p.Fail("integer expected")
	}
	return n, err == nil
}

// boolean reads true or false; null is false.
func (p *parser) boolean() bool {
	return !p.Null() && p.Bool()
}

// time reads a time as RFC 3339; null is the zero time.
func (p *parser) time() time.Time {
	s := p.str()
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		p.Fail("time expected")
	}
	return t.UTC()
}

// labels reads an object of strings; nil if it is null or empty.
func (p *parser) labels() (labels map[string]string) {
	if p.Null() {
		return nil
	}
	if !p.Open('{') {
		p.Fail("object expected")
		return nil
	}
	for first := true; ; first = false {
		name, _, ok := p.Key(first)
		if !ok {
			return labels
		}
		if labels == nil {
			labels = make(map[string]string)
		}
		k := p.keep(name)
		labels[k] = p.str()
	}
}

// each calls read for every element of an array; null has none.
func (p *parser) each(read func()) {
	if p.Null() {
		return
	}
	if !p.Open('[') {
		p.Fail("array expected")
		return
	}
	for first := true; p.More(first, ']'); first = false {
		read()
	}
}

// owner reads one owner reference.
func (p *parser) owner() (o Owner) {
	if p.Null() {
		return o
	}
	if !p.Open('{') {
		p.Fail("object expected")
		return o
	}
	for first := true; ; first = false {
		name, _, ok := p.Key(first)
		switch {
		case !ok:
			return o
		case name.Is("apiVersion"):
			o.APIVersion = p.str()
		case name.Is("kind"):
			o.Kind = p.str()
		case name.Is("name"):
			o.Name = p.str()
		case name.Is("uid"):
			o.UID = p.str()
		case name.Is("controller"):
			o.Controller = p.boolean()
		case name.Is("blockOwnerDeletion"):
			o.Block = p.boolean()
		default:
			p.Skip()
		}
	}
}
