package customresource

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
)

// maxDefaulted limits the bytes of JSON that defaults add to an object. It is the limit of a request's body, because a
// larger object can't be stored. Upstream has no limit (AX pkg/apiserver/schema/defaulting/algorithm.go: Default): a
// default of 100 KB for each of 100,000 items makes 10 GB.
const maxDefaulted = 3 << 20

// errDefaults is the error for an object whose defaults are too large.
var errDefaults = fmt.Errorf("the defaults of its schema would add more than %d bytes to the object", maxDefaulted)

// defaults are the defaults of a schema and its nested schemas. A nil value has none.
type defaults struct {
	schema *schema.Structural
	// own are the properties with a default. properties are all that have or contain one.
	own, properties map[string]*defaults
	items, rest     *defaults
	// size is the number of bytes that the default adds, with the defaults inside it. The maximum is maxDefaulted+1.
	size int
}

// defaultsOf collects the defaults of a schema. The result refers to the schema.
func defaultsOf(s *schema.Structural) *defaults {
	if s == nil {
		return nil
	}
	d := &defaults{schema: s, own: map[string]*defaults{}, properties: map[string]*defaults{}}
	for name, p := range s.Properties {
		within := defaultsOf(&p)
		if within == nil {
			continue
		}
		d.properties[name] = within
		if p.Default.Object != nil {
			d.own[name] = within
		}
	}
	d.items = defaultsOf(s.Items)
	if s.AdditionalProperties != nil {
		d.rest = defaultsOf(s.AdditionalProperties.Structural)
	}
	if s.Default.Object == nil && len(d.properties) == 0 && d.items == nil && d.rest == nil {
		return nil
	}
	data, err := json.Marshal(s.Default.Object)
	d.size = len(data)
	if err != nil || d.size > maxDefaulted {
		d.size = maxDefaulted + 1
	} else {
		d.size += d.missing(s.Default.Object, maxDefaulted-d.size)
	}
	return d
}

// replaces reports whether the default replaces the value: it does if the value is a null that is not allowed.
func (d *defaults) replaces(x any) bool { return d != nil && x == nil && !d.schema.Nullable }

// missing returns the number of bytes that defaults would add to x. It stops counting above most.
func (d *defaults) missing(x any, most int) (n int) {
	if d == nil {
		return 0
	}
	count := func(name string, within *defaults, v any, found bool) (going bool) {
		switch {
		case !found || within.replaces(v):
			n += len(name) + len(`"":,`) + within.size
		default:
			n += within.missing(v, most-n)
		}
		return n <= most
	}
	switch x := x.(type) {
	case map[string]any:
		for name, within := range d.own {
			if _, found := x[name]; !found && !count(name, within, nil, false) {
				return n
			}
		}
		for name, v := range x {
			if within := d.at(name); within != nil && !count(name, within, v, true) {
				return n
			}
		}
	case []any:
		for _, v := range x {
			if d.items == nil || !count("", d.items, v, true) {
				return n
			}
		}
	}
	return n
}

// at returns the defaults for a member of an object, or nil if it has none.
func (d *defaults) at(name string) *defaults {
	if _, known := d.schema.Properties[name]; known {
		return d.properties[name]
	}
	return d.rest
}

// fill sets all defaults of an object, or returns an error if they are too large. It keeps nulls that no default
// replaces, because those of an apply document are validated (AX pkg/apiserver/customresource_handler.go:
// unstructuredDefaulter).
func (d *defaults) fill(content map[string]any) error {
	if d.missing(content, maxDefaulted) > maxDefaulted {
		return errDefaults
	}
	if d != nil {
		defaulting.Default(content, d.schema)
	}
	return nil
}
