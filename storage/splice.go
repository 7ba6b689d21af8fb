package storage

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// cut is the position of resourceVersion in an object's JSON, or the one at which to insert it.
type cut struct {
	members
	// begin and end delimit the value of metadata; if there are several members metadata, of the last one.
	begin, end int
	// managed and managedEnd delimit, in metadata, managedFields with the comma before it; both are 0 without them.
	managed, managedEnd int
	// name is the offset of the member resourceVersion; 0 if there is none.
	name int
	// from and to delimit the bytes to replace: the existing value, or an empty range.
	from, to int
	// before and after are written before and after the digits of the revision.
	before, after string
}

// apply returns the JSON with the revision inserted. It shares no memory with b.
func (c cut) apply(b []byte, rev int64) []byte {
	out := make([]byte, 0, len(b)-(c.to-c.from)+len(c.before)+len(c.after)+20)
	out = append(out, b[:c.from]...)
	out = append(out, c.before...)
	out = strconv.AppendInt(out, rev, 10)
	out = append(out, c.after...)
	return append(out, b[c.to:]...)
}

// splice returns stored JSON without the newline at its end. It sets metadata.resourceVersion to rev, at the position
// where Kubernetes prints it, and replaces an existing one. A revision of 0 inserts nothing, as for an object that was
// never stored. The result shares memory with stored only if rev is 0. begin and end of the cut are offsets in the
// result. splice fails if stored is not a JSON object with metadata.
func splice(stored []byte, rev int64) ([]byte, cut, error) {
	b := bytes.Trim(stored, space)
	c, err := locate(b)
	if err != nil || rev == 0 {
		return b[:len(b):len(b)], c, err
	}
	out := c.apply(b, rev)
	c.end += len(out) - len(b) // resourceVersion is inserted before the end
	return out, c, nil
}

// unsplice reverses splice: it returns the JSON of an object without metadata.resourceVersion, as it is stored. The
// result shares no memory with the object.
func unsplice(object []byte) ([]byte, error) {
	c, err := locate(object)
	if err != nil {
		return nil, err
	}
	switch from, to := c.name, c.to; {
	case from == 0:
		return bytes.Clone(object), nil
	case object[to] == ',': // a member follows it
		return slices.Concat(object[:from], object[to+1:]), nil
	case object[from-1] == ',':
		return slices.Concat(object[:from-1], object[to:]), nil
	default:
		return slices.Concat(object[:from], object[to:]), nil
	}
}

// locate finds the cut of an object. If there are several members metadata, it is that of the last one.
func locate(object []byte) (c cut, err error) {
	s := jsonscan.New(object)
	typed, all := false, make(members, 0, 5)
	if !s.Open('{') {
		s.Fail("no JSON object")
	}
	for first := true; s.Err() == nil; first = false {
		name, _, ok := s.Key(first)
		if !ok {
			break
		}
		typed = typed || first && name.Is("kind")
		s.Peek()
		from, is := s.Offset(), name.Is("metadata")
		if is {
			c = cut{}
		}
		if is && s.Open('{') {
			c = locateIn(&s, typed)
		} else {
			s.Skip()
		}
		all = append(all, member{name, s.From(from)})
	}
	switch {
	case !s.Done():
		s.Fail("no JSON object")
	case c.to == 0:
		s.Fail("no metadata")
	}
	c.members = all
	return c, s.Err()
}

// locateIn parses the members of metadata, whose opening brace was read. Kubernetes writes the metadata of Go types in
// the order of ObjectMeta's fields, and that of unstructured objects in the order of the names.
func locateIn(s *jsonscan.Scanner, typed bool) cut {
	c := cut{begin: s.Offset() - 1}
	for first := true; ; first = false {
		name, at, ok := s.Key(first)
		if !ok {
			c.end = s.Offset()
			if c.to == 0 { // resourceVersion is inserted at the end
				c.from, c.to, c.before, c.after = c.end-1, c.end-1, `,"resourceVersion":"`, `"`
			}
			if first {
				c.before = c.before[1:]
			}
			return c
		}
		s.Peek()
		from := s.Offset()
		s.Skip()
		if name.Is("managedFields") && s.From(at - 1)[0] == ',' {
			c.managed, c.managedEnd = at-1-c.begin, s.Offset()-c.begin
		}
		switch {
		case name.Is("resourceVersion"):
			c.name, c.from, c.to, c.before, c.after = at, from, s.Offset(), `"`, `"`
		case c.to == 0 && follows(string(name.Raw), typed):
			c.from, c.to, c.before, c.after = at, at, `"resourceVersion":"`, `",`
		}
	}
}

// follows reports whether Kubernetes writes a member of metadata after resourceVersion.
func follows(name string, typed bool) bool {
	return !typed && name > "resourceVersion" ||
		typed && !slices.Contains([]string{"name", "generateName", "namespace", "selfLink", "uid"}, name)
}

// space is white space of JSON; kube-apiserver ends each value with a newline.
const space = " \n\r\t"
