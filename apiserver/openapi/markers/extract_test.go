package markers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	syntax "go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// packages are the packages of the types in the served documents, sorted.
var packages = []string{
	"k8s.io/api/admissionregistration/v1",
	"k8s.io/api/admissionregistration/v1alpha1",
	"k8s.io/api/admissionregistration/v1beta1",
	"k8s.io/api/apps/v1",
	"k8s.io/api/authentication/v1",
	"k8s.io/api/authorization/v1",
	"k8s.io/api/autoscaling/v1",
	"k8s.io/api/autoscaling/v2",
	"k8s.io/api/batch/v1",
	"k8s.io/api/certificates/v1",
	"k8s.io/api/certificates/v1beta1",
	"k8s.io/api/coordination/v1",
	"k8s.io/api/core/v1",
	"k8s.io/api/discovery/v1",
	"k8s.io/api/events/v1",
	"k8s.io/api/flowcontrol/v1",
	"k8s.io/api/networking/v1",
	"k8s.io/api/networking/v1beta1",
	"k8s.io/api/node/v1",
	"k8s.io/api/policy/v1",
	"k8s.io/api/rbac/v1",
	"k8s.io/api/resource/v1",
	"k8s.io/api/resource/v1beta1",
	"k8s.io/api/resource/v1beta2",
	"k8s.io/api/scheduling/v1",
	"k8s.io/api/scheduling/v1alpha3",
	"k8s.io/api/storage/v1",
	"k8s.io/api/storage/v1beta1",
	"k8s.io/api/storagemigration/v1",
	"k8s.io/api/storagemigration/v1beta1",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/version",
}

// extract returns the contents of markers.json for the versions in go.mod. A marker that is not supported is an error.
func extract() ([]byte, error) {
	dirs, err := directories()
	if err != nil {
		return nil, err
	}
	all := &Set{Enums: map[string][]string{}, Types: map[string]Type{}}
	for _, path := range packages {
		p, err := parsePackage(path, dirs)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		for _, name := range p.enums {
			all.Enums[path+"."+name] = slices.Sorted(slices.Values(p.values[name]))
		}
		for _, t := range p.structs {
			marked, err := p.typeOf(t)
			if err != nil {
				return nil, fmt.Errorf("markers of %s.%s: %w", path, t.name, err)
			}
			if marked.MapType != "" || marked.Union != nil || marked.Fields != nil {
				all.Types[path+"."+t.name] = marked
			}
		}
	}
	data, err := json.MarshalIndent(all, "", " ")
	return append(data, '\n'), err
}

// directories are those of packages and of all that they depend on, by import path, as the go command finds them.
func directories() (map[string]string, error) {
	arguments := append([]string{"list", "-deps", "-f", "{{.ImportPath}}\t{{.Dir}}"}, packages...)
	out, err := exec.Command("go", arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, at, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found[path] = at
	}
	return found, nil
}

// tags are the markers of a comment by name; a name may be repeated.
type tags map[string][]string

func (t tags) has(name string) bool { _, ok := t[name]; return ok }

// one returns the only value of a name, or "".
func (t tags) one(name string) (string, error) {
	switch values := t[name]; len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	default:
		return "", fmt.Errorf("+%s is there %d times", name, len(values))
	}
}

// readTags parses lines "+name" and "+name=value".
func readTags(doc *ast.CommentGroup) tags {
	t := tags{}
	if doc == nil {
		return t
	}
	for line := range strings.Lines(doc.Text()) {
		line = strings.TrimSpace(line)
		if marker, ok := strings.CutPrefix(line, "+"); ok {
			name, value, _ := strings.Cut(marker, "=")
			t[name] = append(t[name], value)
		}
	}
	return t
}

// source has the relevant declarations of one package.
type source struct {
	structs []structure
	// enums are the string types marked +enum, in order of declaration; values by type name.
	enums  []string
	values map[string][]string
	// consts are the string constants by name.
	consts map[string]string
	// dirs are the directories of packages, whose constants some enums repeat.
	dirs map[string]string
}

type structure struct {
	name   string
	tags   tags
	fields []*ast.Field
}

// declaration is a const or type declaration and the imports of its file by local name.
type declaration struct {
	*ast.GenDecl
	imports map[string]string
}

func parsePackage(path string, dirs map[string]string) (*source, error) {
	if dirs[path] == "" {
		return nil, errors.New("it is not among the dependencies")
	}
	decls, err := declarations(dirs[path])
	if err != nil {
		return nil, err
	}
	s := &source{values: map[string][]string{}, consts: map[string]string{}, dirs: dirs}
	for _, d := range decls {
		if d.Tok == token.TYPE {
			s.addTypes(d.GenDecl)
		}
	}
	for _, d := range decls {
		if d.Tok == token.CONST {
			if err := s.addConsts(d); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func declarations(dir string) (decls []declaration, err error) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := syntax.ParseFile(token.NewFileSet(), file, nil, syntax.ParseComments|syntax.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		imports := map[string]string{}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			local := filepath.Base(path)
			if i.Name != nil {
				local = i.Name.Name
			}
			imports[local] = path
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				decls = append(decls, declaration{g, imports})
			}
		}
	}
	return decls, nil
}

func (s *source) addTypes(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		t := spec.(*ast.TypeSpec)
		found := readTags(cmp.Or(t.Doc, d.Doc))
		switch body := t.Type.(type) {
		case *ast.StructType:
			s.structs = append(s.structs, structure{t.Name.Name, found, body.Fields.List})
		case *ast.Ident:
			if found.has("enum") && body.Name == "string" {
				s.enums = append(s.enums, t.Name.Name)
			}
		}
	}
}

// addConsts records string constants. Those of an enum's type must be supported.
func (s *source) addConsts(d declaration) error {
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		for i, name := range v.Names {
			if i >= len(v.Values) {
				continue
			}
			typ, _ := v.Type.(*ast.Ident)
			expr := v.Values[i]
			if call, ok := expr.(*ast.CallExpr); ok && len(call.Args) == 1 {
				typ, _ = call.Fun.(*ast.Ident)
				expr = call.Args[0]
			}
			enum := typ != nil && slices.Contains(s.enums, typ.Name)
			value, err := s.stringValue(expr, d.imports, enum)
			if err != nil {
				return fmt.Errorf("constant %s: %w", name.Name, err)
			}
			if value == nil {
				continue
			}
			s.consts[name.Name] = *value
			if enum && !slices.Contains(s.values[typ.Name], *value) {
				s.values[typ.Name] = append(s.values[typ.Name], *value)
			}
		}
	}
	return nil
}

// stringValue evaluates literals, constants of this package declared before, and, if needed is set, constants of other
// packages. It returns nil for a value that is not a string.
func (s *source) stringValue(e ast.Expr, imports map[string]string, needed bool) (*string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			value, err := strconv.Unquote(e.Value)
			return &value, err
		}
	case *ast.Ident:
		if value, ok := s.consts[e.Name]; ok {
			return &value, nil
		}
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok && needed {
			return s.imported(imports[pkg.Name], e.Sel.Name)
		}
	}
	if needed {
		return nil, fmt.Errorf("value of an enum isn't understood: %T", e)
	}
	return nil, nil
}

func (s *source) imported(path, name string) (*string, error) {
	other, err := parsePackage(path, s.dirs)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	value, ok := other.consts[name]
	if !ok {
		return nil, fmt.Errorf("%s.%s isn't a string constant", path, name)
	}
	return &value, nil
}

func (s *source) typeOf(t structure) (out Type, err error) {
	if out.MapType, err = mapTypeOf(t.tags); err != nil {
		return out, err
	}
	for _, unknown := range []string{"default", "nullable"} {
		if t.tags.has(unknown) {
			return out, fmt.Errorf("+%s of a type", unknown)
		}
	}
	if t.tags.has("union") {
		out.Union = &Union{Discriminator: discriminator(t.fields), Members: map[string]string{}}
	}
	for _, f := range t.fields {
		name := jsonName(f)
		if name == "" || name == "-" {
			continue
		}
		found := readTags(f.Doc)
		field, err := s.fieldOf(f, found)
		if err != nil {
			return out, fmt.Errorf("field %s: %w", name, err)
		}
		member := out.Union != nil && !found.has("unionDiscriminator") && len(f.Names) == 1
		if member {
			out.Union.Members[name] = f.Names[0].Name
		}
		if member || !reflect.ValueOf(field).IsZero() {
			if out.Fields == nil {
				out.Fields = map[string]Field{}
			}
			out.Fields[name] = field
		}
	}
	return out, nil
}

func (s *source) fieldOf(f *ast.Field, found tags) (out Field, err error) {
	if err := checkPatchTags(f, found); err != nil {
		return out, err
	}
	out.Presence, out.ListMapKeys = presenceOf(f, found), found["listMapKey"]
	if out.ListType, err = found.one("listType"); err != nil {
		return out, err
	}
	if out.MapType, err = mapTypeOf(found); err != nil {
		return out, err
	}
	out.Default, err = s.defaultOf(found)
	return out, err
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

func (s *source) defaultOf(found tags) (def any, err error) {
	value, err := found.one("default")
	if err != nil || value == "" {
		return nil, err
	}
	ref, ok := strings.CutPrefix(value, "ref(")
	if !ok {
		err = json.Unmarshal([]byte(value), &def)
		return def, err
	}
	constant, ok := s.consts[strings.TrimSuffix(ref, ")")]
	if !ok {
		return nil, fmt.Errorf("default %s isn't a string constant of the package", value)
	}
	return constant, nil
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
