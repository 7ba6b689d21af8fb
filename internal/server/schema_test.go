package server

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/gc/trail"
)

// TestAnswerSchema compares docs/explain.schema.json with the Go types of the answers: every field is a property of its
// definition and the other way round, with the same JSON type, and every constant is a value.
func TestAnswerSchema(t *testing.T) {
	d, err := readSchema("../../docs/explain.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range []typeNames{
		{
			reflect.TypeFor[explain.ObjectReference](): "object", reflect.TypeFor[graph.Owner](): "ownerReference",
			reflect.TypeFor[explain.Node](): "node", reflect.TypeFor[explain.Tree](): "tree",
			reflect.TypeFor[explain.Hidden](): "notListed", reflect.TypeFor[explain.Asked](): "admission",
			reflect.TypeFor[explain.Reason](): "why", reflect.TypeFor[explain.Cause](): "cause",
			reflect.TypeFor[explain.Remedy](): "remedy", reflect.TypeFor[explain.Action](): "action",
			reflect.TypeFor[explain.Preview](): "preview", reflect.TypeFor[explain.Change](): "change",
			reflect.TypeFor[explain.What](): "what", reflect.TypeFor[explain.Left](): "left",
			reflect.TypeFor[explain.Dangling](): "dangling", reflect.TypeFor[explain.Count](): "count",
			reflect.TypeFor[explain.Warning](): "warning", reflect.TypeFor[graph.Key](): "absent",
			reflect.TypeFor[explain.Finding](): "finding", reflect.TypeFor[explain.Rule](): "rule",
		},
		{
			reflect.TypeFor[trail.Answer](): "trail", reflect.TypeFor[trail.Object](): "object",
			reflect.TypeFor[trail.Moment](): "moment", reflect.TypeFor[trail.Removal](): "removal",
			reflect.TypeFor[trail.Request](): "request", reflect.TypeFor[trail.Owner](): "owner",
			reflect.TypeFor[trail.Reason](): "trailReason",
		},
		{
			reflect.TypeFor[settledAnswer](): "settled", reflect.TypeFor[settledWait](): "wait",
			reflect.TypeFor[settledObject](): "waitObject",
		},
	} {
		for _, difference := range d.differences(names) {
			t.Error(difference)
		}
	}
	for _, c := range []struct{ dir, of, name string }{
		{"explain", "Cause", "cause"}, {"explain", "Action", "action"}, {"explain", "What", "what"},
		{"explain", "Rule", "rule"}, {"trail", "Reason", "trailReason"},
	} {
		want, err := constants("../../gc/"+c.dir, c.of)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.values(c.name); len(want) < 5 || !slices.Equal(want, got) {
			t.Errorf("%s: %q in the schema, %q in Go", c.name, got, want)
		}
	}
}

// schemaDocument is a JSON schema.
type schemaDocument struct {
	Defs map[string]*schemaNode `json:"$defs"`
}

// schemaNode is a definition in a schemaDocument. It has only the keywords that correspond to features of Go types.
type schemaNode struct {
	Type       any                    `json:"type"`
	Ref        string                 `json:"$ref"`
	Format     string                 `json:"format"`
	Const      any                    `json:"const"`
	Items      *schemaNode            `json:"items"`
	Properties map[string]*schemaNode `json:"properties"`
	Required   []string               `json:"required"`
	OneOf      []*schemaNode          `json:"oneOf"`
}

// readSchema reads a JSON schema.
func readSchema(path string) (d *schemaDocument, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// typeNames maps types to the names of their definitions.
type typeNames map[reflect.Type]string

// differences returns the differences between structs and their definitions. The names of other types only resolve
// references of fields.
func (d *schemaDocument) differences(names typeNames) (out []string) {
	for t, name := range names {
		def := d.Defs[name]
		switch {
		case def == nil:
			out = append(out, "missing definition "+name)
		case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()): // its JSON is that of another type
		case t.Kind() == reflect.Struct && def.Properties != nil:
			out = append(out, names.fields(name, t, def)...)
		}
	}
	return out
}

// fields compares the fields of a struct with the properties of its definition.
func (n typeNames) fields(name string, t reflect.Type, def *schemaNode) (out []string) {
	seen := map[string]bool{}
	for f := range t.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" || key == "-" {
			continue
		}
		seen[key] = true
		at := name + "." + key
		property := def.Properties[key]
		if property == nil {
			out = append(out, at+": missing in the definition")
			continue
		}
		if want, got := n.kind(f.Type, strings.Contains(options, "string")), property.kind(); want != got {
			out = append(out, fmt.Sprintf("%s: %s in the definition, %s in Go", at, got, want))
		}
		if always := !strings.Contains(options, "omit"); always != slices.Contains(def.Required, key) {
			out = append(out, fmt.Sprintf("%s: required must be %v", at, always))
		}
	}
	for key := range def.Properties {
		if !seen[key] {
			out = append(out, name+"."+key+": missing in the Go type")
		}
	}
	return out
}

// kind returns the type of a schema that corresponds to a Go type.
func (n typeNames) kind(t reflect.Type, quoted bool) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, ok := n[t]; ok {
		return "#/$defs/" + name
	}
	if t == reflect.TypeFor[time.Time]() || t.Name() == "Time" && t.Kind() == reflect.Struct {
		return "date-time"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int64:
		if quoted {
			return "string"
		}
		return "integer"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		return "array of " + n.kind(t.Elem(), false)
	case reflect.Map:
		return "object"
	}
	return t.String()
}

// kind returns the type of a schema in the notation of typeNames.kind.
func (s *schemaNode) kind() string {
	first := s.Type
	if several, ok := s.Type.([]any); ok {
		first = several[0] // the second one is null, for a slice that may be nil
	}
	switch {
	case s.Ref != "":
		return s.Ref
	case s.Format != "":
		return s.Format
	case s.Items != nil:
		return "array of " + s.Items.kind()
	case s.Const == true:
		return "boolean"
	}
	return fmt.Sprint(first)
}

// values returns the constants in the oneOf of a definition, sorted.
func (d *schemaDocument) values(name string) (out []string) {
	if def := d.Defs[name]; def != nil {
		for _, one := range def.OneOf {
			out = append(out, fmt.Sprint(one.Const))
		}
	}
	slices.Sort(out)
	return out
}

// constants returns the values of the constants of a string type in the directory of a package, sorted.
func constants(dir, of string) (out []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			name, ok := spec.Type.(*ast.Ident)
			for _, v := range spec.Values {
				if lit, literal := v.(*ast.BasicLit); ok && name.Name == of && literal && lit.Kind == token.STRING {
					value, _ := strconv.Unquote(lit.Value) // the parser accepts no other literals
					out = append(out, value)
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return out, nil
}
