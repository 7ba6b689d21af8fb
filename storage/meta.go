package storage

import (
	"strconv"
	"strings"
	"time"
)

// parser reads what is asked of an object in the same pass that validates it.
type parser struct {
	scan
	meta *Meta
	// kept holds the strings of one object together. They must not be parts of its JSON: whoever keeps
	// a uid would keep all of it alive.
	kept strings.Builder
	// values are those found so far, by want.slot.
	values []string
}

// object passes the whole object.
func (p *parser) object(paths []FieldPath) (c cut) {
	var room [8]want
	wants := p.wants(room[:0], paths)
	if !p.open('{') {
		return c
	}
	var typed text
	for first := true; ; first = false {
		name, _, ok := p.key(first)
		if !ok {
			return c
		}
		if first {
			typed = name
		}
		start := p.i
		switch {
		case name.is("metadata"):
			c = p.metadata(newPlace(typed))
		case name.is("kind"):
			p.meta.Kind = p.text()
		case name.is("apiVersion"):
			p.meta.APIVersion = p.text()
		default:
			p.field(name, wants)
			continue
		}
		if p.err == nil && wanted(name, wants) {
			end := p.i
			p.i = start
			p.field(name, wants)
			p.i = max(p.i, end)
		}
	}
}

// metadata reads the value of metadata. If there are several the last counts, as in encoding/json.
func (p *parser) metadata(at place) cut {
	*p.meta = Meta{APIVersion: p.meta.APIVersion, Kind: p.meta.Kind}
	if p.null() {
		return cut{}
	}
	if !p.open('{') {
		p.fail("metadata: object expected")
		return cut{}
	}
	for first := true; ; first = false {
		name, where, ok := p.key(first)
		if !ok {
			return at.cut(p.i)
		}
		at.see(name, where)
		if name.is("resourceVersion") {
			p.peek()
			at.from = p.i
			p.skip()
			at.to = p.i
			continue
		}
		p.member(name)
	}
}

// member reads one member of metadata.
func (p *parser) member(name text) {
	if !name.plain {
		name = text{raw: name.append(nil), plain: true}
	}
	m := p.meta
	switch string(name.raw) {
	case "name":
		m.Name = p.text()
	case "namespace":
		m.Namespace = p.text()
	case "uid":
		m.UID = p.text()
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
		p.each(func() { m.Finalizers = append(m.Finalizers, p.text()) })
	case "ownerReferences":
		m.Owners = nil
		p.each(func() { m.Owners = append(m.Owners, p.owner()) })
	default:
		p.skip()
	}
}

// keep makes a string of the text.
func (p *parser) keep(t text) string {
	if p.kept.Cap() == 0 {
		p.kept.Grow(128)
	}
	from := p.kept.Len()
	if t.plain {
		p.kept.Write(t.raw)
	} else {
		p.kept.Write(t.append(nil))
	}
	return p.kept.String()[from:]
}

// text reads a string; null is "".
func (p *parser) text() string {
	if p.null() {
		return ""
	}
	if p.peek() != '"' {
		p.fail("string expected")
		return ""
	}
	return p.keep(p.str())
}

// integer reads a whole number; ok is false for null.
func (p *parser) integer() (n int64, ok bool) {
	if p.null() {
		return 0, false
	}
	n, err := strconv.ParseInt(string(p.number()), 10, 64)
	if err != nil {
		p.fail("integer expected")
	}
	return n, err == nil
}

// boolean reads true or false; null is false.
func (p *parser) boolean() bool {
	switch {
	case p.null():
	case p.peek() == 't':
		p.word("true")
		return true
	default:
		p.word("false")
	}
	return false
}

// time reads a time as RFC 3339; null is the zero time.
func (p *parser) time() time.Time {
	s := p.text()
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		p.fail("time expected")
	}
	return t.UTC()
}

// labels reads an object of strings; nil if it is null or empty.
func (p *parser) labels() (labels map[string]string) {
	if p.null() {
		return nil
	}
	if !p.open('{') {
		p.fail("object expected")
		return nil
	}
	for first := true; ; first = false {
		name, _, ok := p.key(first)
		if !ok {
			return labels
		}
		if labels == nil {
			labels = make(map[string]string)
		}
		k := p.keep(name)
		labels[k] = p.text()
	}
}

// each calls read at every element of an array; null has none.
func (p *parser) each(read func()) {
	if p.null() {
		return
	}
	if !p.open('[') {
		p.fail("array expected")
		return
	}
	for first := true; p.more(first, ']'); first = false {
		read()
	}
}

// owner reads one owner reference.
func (p *parser) owner() (o Owner) {
	if p.null() {
		return o
	}
	if !p.open('{') {
		p.fail("object expected")
		return o
	}
	for first := true; ; first = false {
		name, _, ok := p.key(first)
		switch {
		case !ok:
			return o
		case name.is("apiVersion"):
			o.APIVersion = p.text()
		case name.is("kind"):
			o.Kind = p.text()
		case name.is("name"):
			o.Name = p.text()
		case name.is("uid"):
			o.UID = p.text()
		case name.is("controller"):
			o.Controller = p.boolean()
		case name.is("blockOwnerDeletion"):
			o.Block = p.boolean()
		default:
			p.skip()
		}
	}
}
