package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var errSpace = errors.New("value has a space, which separates words")

func (s *source) render() (string, error) {
	var b strings.Builder
	for _, name := range s.enums {
		values := slices.Sorted(slices.Values(s.values[name]))
		for _, v := range values {
			if strings.ContainsAny(v, ",\n") {
				return "", fmt.Errorf("enum %s has a value with a comma or newline: %q", name, v)
			}
		}
		fmt.Fprintf(&b, "enum %s %s\n", name, strings.Join(values, ","))
	}
	for _, t := range s.structs {
		lines, err := s.structLines(t)
		if err != nil {
			return "", fmt.Errorf("type %s: %w", t.name, err)
		}
		for _, line := range lines {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String(), nil
}

// structLines returns no line for a struct without markers.
func (s *source) structLines(t structure) ([]string, error) {
	head := "type " + t.name
	mapType, err := mapTypeOf(t.tags)
	if err != nil {
		return nil, err
	}
	if mapType != "" {
		head += " mapType=" + mapType
	}
	for _, unknown := range []string{"default", "nullable"} {
		if t.tags.has(unknown) {
			return nil, fmt.Errorf("+%s of a type", unknown)
		}
	}
	union := t.tags.has("union")
	if union {
		head += " union=" + discriminator(t.fields)
	}
	lines := []string{head}
	for _, f := range t.fields {
		line, err := s.fieldLine(f, union)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", jsonName(f), err)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 && head == "type "+t.name {
		return nil, nil
	}
	return lines, nil
}

func (s *source) fieldLine(f *ast.Field, union bool) (string, error) {
	name := jsonName(f)
	if name == "" || name == "-" {
		return "", nil
	}
	found := readTags(f.Doc)
	if err := checkPatchTags(f, found); err != nil {
		return "", err
	}
	var words []string
	if presence := presenceOf(f, found); presence != "" {
		words = append(words, presence)
	}
	listType, err := found.one("listType")
	if err != nil {
		return "", err
	}
	if listType != "" {
		words = append(words, "listType="+listType)
	}
	for _, key := range found["listMapKey"] {
		words = append(words, "listMapKey="+key)
	}
	mapType, err := mapTypeOf(found)
	if err != nil {
		return "", err
	}
	if mapType != "" {
		words = append(words, "mapType="+mapType)
	}
	def, err := s.defaultOf(found)
	if err != nil {
		return "", err
	}
	if def != "" {
		words = append(words, "default="+def)
	}
	if union && !found.has("unionDiscriminator") && len(f.Names) == 1 {
		words = append(words, "member="+f.Names[0].Name)
	}
	if len(words) == 0 {
		return "", nil
	}
	return " " + name + " " + strings.Join(words, " "), spaceless(words...)
}

// presenceOf returns the marker if it contradicts the json tag: a field is required unless it is +optional, or has
// omitempty and is not +required.
func presenceOf(f *ast.Field, found tags) string {
	omitempty := strings.Contains(fieldTag(f).Get("json"), "omitempty")
	switch {
	case found.has("required") && omitempty:
		return "required"
	case found.has("optional") && !found.has("required") && !omitempty:
		return "optional"
	}
	return ""
}

func (s *source) defaultOf(found tags) (string, error) {
	value, err := found.one("default")
	if err != nil || value == "" {
		return "", err
	}
	ref, ok := strings.CutPrefix(value, "ref(")
	if !ok {
		var b bytes.Buffer
		err := json.Compact(&b, []byte(value)) // a space separates words
		return b.String(), err
	}
	constant, ok := s.consts[strings.TrimSuffix(ref, ")")]
	if !ok {
		return "", fmt.Errorf("default %s isn't a string constant of the package", value)
	}
	return strconv.Quote(constant), nil
}

// mapTypeOf combines +mapType and +structType, which are one extension in OpenAPI.
func mapTypeOf(found tags) (string, error) {
	mapType, err := found.one("mapType")
	if err != nil || mapType != "" {
		return mapType, err
	}
	return found.one("structType")
}

// checkPatchTags verifies that struct tags, which the server reads, equal the markers.
func checkPatchTags(f *ast.Field, found tags) error {
	for _, key := range []string{"patchStrategy", "patchMergeKey"} {
		comment, err := found.one(key)
		if err != nil {
			return err
		}
		if tag := fieldTag(f).Get(key); tag != comment {
			return fmt.Errorf("%s is %q in the tag and %q in the comment", key, tag, comment)
		}
	}
	return nil
}

func discriminator(fields []*ast.Field) string {
	for _, f := range fields {
		if readTags(f.Doc).has("unionDiscriminator") {
			return jsonName(f)
		}
	}
	return ""
}

func fieldTag(f *ast.Field) reflect.StructTag {
	if f.Tag == nil {
		return ""
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return ""
	}
	return reflect.StructTag(tag)
}

func jsonName(f *ast.Field) string {
	name, _, _ := strings.Cut(fieldTag(f).Get("json"), ",")
	return name
}

func spaceless(words ...string) error {
	for _, w := range words {
		if strings.ContainsAny(w, " \t\n") || w == "" {
			return fmt.Errorf("%q: %w", w, errSpace)
		}
	}
	return nil
}
