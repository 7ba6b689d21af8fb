package customresource

import (
	"fmt"
	"regexp/syntax"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxComparisons limits the cost of validating an object. The library checks each property of the schema for each
// object, each value of an enum for each value, and each step of a pattern for each character. A schema with 100,000
// values and a list of 100,000 items would take 10 billion comparisons.
const maxComparisons = 16 << 20

// patternShare is the number of pattern steps that cost as much as one comparison.
const patternShare = 16

// cost is the cost of validating a value.
type cost struct {
	// each is the number of comparisons for a value. steps is the number of pattern steps for a character of a string.
	each, steps int
	properties  map[string]*cost
	items, rest *cost
}

// nested are the schemas in allOf, anyOf, oneOf and not.
type nested []*schema.NestedValueValidation

// costOf returns the costs of a schema. also are the nested schemas of its parents that apply to the same value.
func costOf(s *schema.Structural, also nested) *cost {
	if s == nil {
		return nil
	}
	c := &cost{each: 1 + len(s.Properties)}
	c.add(s.ValueValidation)
	all := junctors(s.ValueValidation, also)
	for _, n := range all {
		c.each += 1 + len(n.Properties)
		c.add(&n.ValueValidation)
	}
	if len(s.Properties) > 0 {
		c.properties = make(map[string]*cost, len(s.Properties))
	}
	for name, p := range s.Properties {
		c.properties[name] = costOf(&p, all.at(func(n *schema.NestedValueValidation) *schema.NestedValueValidation {
			if p, ok := n.Properties[name]; ok {
				return &p
			}
			return nil
		}))
	}
	c.items = costOf(s.Items, all.at(func(n *schema.NestedValueValidation) *schema.NestedValueValidation {
		return n.Items
	}))
	if s.AdditionalProperties != nil {
		c.rest = costOf(s.AdditionalProperties.Structural,
			all.at(func(n *schema.NestedValueValidation) *schema.NestedValueValidation { return n.AdditionalProperties }))
	}
	return c
}

// add adds the cost of a value itself, without its members.
func (c *cost) add(v *schema.ValueValidation) {
	if v == nil {
		return
	}
	c.each += len(v.Enum) + len(v.Required)
	if v.Pattern == "" {
		return
	}
	if parsed, err := syntax.Parse(v.Pattern, syntax.Perl); err == nil { // as the library compiles it
		if p, err := syntax.Compile(parsed.Simplify()); err == nil {
			c.steps += len(p.Inst)
		}
	}
}

// junctors returns all nested schemas that apply to a value, at any depth.
func junctors(v *schema.ValueValidation, also nested) (all nested) {
	var visit func(v *schema.ValueValidation)
	under := func(n *schema.NestedValueValidation) {
		all = append(all, n)
		visit(&n.ValueValidation)
	}
	visit = func(v *schema.ValueValidation) {
		if v == nil {
			return
		}
		for _, of := range [][]schema.NestedValueValidation{v.AllOf, v.AnyOf, v.OneOf} {
			for i := range of {
				under(&of[i])
			}
		}
		if v.Not != nil {
			under(v.Not)
		}
	}
	visit(v)
	for _, n := range also {
		under(n)
	}
	return all
}

// at returns the schemas that apply to a part of a value.
func (all nested) at(part func(*schema.NestedValueValidation) *schema.NestedValueValidation) (out nested) {
	for _, n := range all {
		if p := part(n); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// of returns the cost of validating a value. It stops counting above most.
func (c *cost) of(x any, most int) (n int) {
	if c == nil {
		return 0
	}
	n = c.each
	switch x := x.(type) {
	case string:
		n += c.steps * len(x) / patternShare
	case map[string]any:
		for name, v := range x {
			within, known := c.properties[name]
			if !known {
				within = c.rest
			}
			if n > most {
				break
			}
			n += within.of(v, most-n)
		}
	case []any:
		for _, v := range x {
			if n > most || c.items == nil {
				break
			}
			n += c.items.of(v, most-n)
		}
	}
	return n
}

// tooCostly returns an error for an object whose defaults are too large, or whose validation would take too long. Then
// the object is not validated.
func (r *rules) tooCostly(content map[string]any) field.ErrorList {
	switch {
	case r.defaults.missing(content, maxDefaulted) > maxDefaulted:
		return field.ErrorList{field.Invalid(nil, field.OmitValueType{}, errDefaults.Error())}
	case r.cost.of(content, maxComparisons) > maxComparisons:
		return field.ErrorList{field.Invalid(nil, field.OmitValueType{}, fmt.Sprintf(
			"its validation by the schema would take more than %d comparisons of values, names and patterns", maxComparisons))}
	}
	return nil
}
