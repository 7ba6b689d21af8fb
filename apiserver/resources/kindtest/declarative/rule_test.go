package declarative

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/internal/featuregates"
)

// rule is a +k8s: tag that validates a type, or a field of one.
type rule struct {
	pkg, typ, field string
	// tag is the line without its level, such as maxItems=10. A rule of the level alpha is not enforced: alpha is the
	// version that introduced it.
	tag, alpha string
	// gate is a gate that is off, if the field or one above it needs one.
	gate string
}

// place returns the type or the field that has the rule.
func (r rule) place() string {
	return strings.TrimSuffix(strings.TrimPrefix(r.pkg, "k8s.io/api/")+"."+r.typ+"."+r.field, ".")
}

func (r rule) String() string { return r.place() + " " + r.tag }

// limit returns the name of the tag and its number. The name is empty if the rule is neither a limit nor a required
// field.
func (r rule) limit() (name string, n int) {
	name, number, _ := strings.Cut(r.tag, "=")
	n, err := strconv.Atoi(number)
	if types[name] == nil || (err != nil && name != "required") {
		return "", 0
	}
	return name, n
}

var (
	// tagged matches a line of a comment that has a tag, with the tag's level.
	tagged = regexp.MustCompile(`^\+k8s:(?:(alpha|beta)\(since: ?"([0-9.]+)"\)=\+k8s:)?(.+)$`)
	// noRule matches the tags that reject nothing themselves: tags of other generators, and tags on which other tags
	// depend.
	noRule = regexp.MustCompile(`^(?:[a-z-]+-gen\b|openapi-model-package\b|deprecated\b|supportsSubresource\b|` +
		`optional$|opaqueType$|listMapKey=|listType=atomic$|memberValidation$)`)
	gated = regexp.MustCompile(`\+featureGate=(\S+)`)
)

// sources are the API types that were read, by package.
type sources struct {
	// modules are the directories of the modules, by their paths.
	modules map[string]string
	// lines are the lines of comments, by package, then by type or field.
	lines map[string]map[string][]string
}

// newSources returns the sources of the modules of Kubernetes that have API types.
func newSources(t *testing.T) *sources {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}", "k8s.io/api", "k8s.io/apimachinery",
		"k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator", "k8s.io/metrics").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	s := &sources{map[string]string{}, map[string]map[string][]string{}}
	for line := range strings.Lines(string(out)) {
		module, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.modules[module] = dir
	}
	return s
}

// comments returns the lines of the comments in a package.
func (s *sources) comments(t *testing.T, pkg string) map[string][]string {
	t.Helper()
	if of, ok := s.lines[pkg]; ok {
		return of
	}
	of := map[string][]string{}
	s.lines[pkg] = of
	for module, dir := range s.modules {
		within, ok := strings.CutPrefix(pkg, module+"/")
		if !ok {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, within, "types*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			collect(f, of)
		}
	}
	return of
}

// collect adds the lines of the comments of types and their fields.
func collect(f *ast.File, to map[string][]string) {
	add := func(name string, doc *ast.CommentGroup) {
		if doc == nil {
			return
		}
		for _, line := range doc.List {
			to[name] = append(to[name], strings.TrimSpace(strings.TrimPrefix(line.Text, "//")))
		}
	}
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.TypeSpec)
			add(spec.Name.Name, decl.Doc)
			if body, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range body.Fields.List {
					add(spec.Name.Name+"."+fieldName(field), field.Doc)
				}
			}
		}
	}
}

// fieldName returns the name of a field, which is that of its type if it is embedded.
func fieldName(f *ast.Field) string {
	if len(f.Names) > 0 {
		return f.Names[0].Name
	}
	if s, ok := f.Type.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return f.Type.(*ast.Ident).Name
}

// within returns the rules of a type and of those within it, except in fields whose type is opaque to rules.
func (s *sources) within(t *testing.T, of reflect.Type) (all []rule) {
	t.Helper()
	seen := map[reflect.Type]string{} // the gate that leads to the type
	var walk func(of reflect.Type, gate string)
	walk = func(of reflect.Type, gate string) {
		if before, ok := seen[of]; ok && (before == "" || gate != "") {
			return
		}
		seen[of] = gate
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(of.Elem(), gate)
		case reflect.Struct:
			lines := s.comments(t, of.PkgPath())
			for f := range of.Fields() {
				comments := lines[of.Name()+"."+f.Name]
				if f.IsExported() && !strings.Contains(strings.Join(comments, "\n"), "+k8s:opaqueType") {
					walk(f.Type, gateOf(comments, gate))
				}
			}
		}
	}
	walk(of, "")
	for of, gate := range seen {
		lines := s.comments(t, of.PkgPath())
		all = append(all, rulesOf(rule{pkg: of.PkgPath(), typ: of.Name()}, lines[of.Name()], gate)...)
		if of.Kind() == reflect.Struct {
			for f := range of.Fields() {
				of := rule{pkg: of.PkgPath(), typ: of.Name(), field: f.Name}
				all = append(all, rulesOf(of, lines[of.typ+"."+of.field], gate)...)
			}
		}
	}
	return all
}

// gateOf returns the gate above a field, or the field's own, if it is off.
func gateOf(comments []string, above string) string {
	m := gated.FindStringSubmatch(strings.Join(comments, "\n"))
	if m == nil || above != "" {
		return above
	}
	for name := range strings.SplitSeq(m[1], ",") {
		if gate, ok := featuregates.Known()[name]; ok && !gate.On {
			return name
		}
	}
	return ""
}

func rulesOf(of rule, comments []string, above string) (all []rule) {
	of.gate = gateOf(comments, above)
	for _, line := range comments {
		m := tagged.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		parts := strings.Split(m[3], "+k8s:") // tags of tags: the last one is the rule
		if noRule.MatchString(parts[len(parts)-1]) {
			continue
		}
		if of.tag, of.alpha = m[3], ""; m[1] == "alpha" {
			of.alpha = m[2]
		}
		all = append(all, of)
	}
	return all
}

// route returns the fields from a type to the rule's field, which is the last one, or nil if there is no route. It
// omits the status, and types that it has seen.
func (r rule) route(t reflect.Type, seen map[reflect.Type]bool) []reflect.StructField {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return nil
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		if t.PkgPath() == r.pkg && t.Name() == r.typ && f.Name == r.field {
			return []reflect.StructField{f}
		}
		if f.Name == "Status" || f.Anonymous {
			continue
		}
		if rest := r.route(f.Type, seen); rest != nil {
			return append([]reflect.StructField{f}, rest...)
		}
	}
	return nil
}

// violate sets the rule's field to a value that violates the rule. It returns false if the Go type has no such value.
func (r rule) violate(v reflect.Value) bool {
	name, limit := r.limit()
	if name == "required" {
		v.SetZero()
		return true
	}
	for v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case name == "minimum" && v.CanInt():
		v.SetInt(min(int64(limit)-1, -1)) // 0 is a missing value
	case name == "maximum" && v.CanInt():
		v.SetInt(int64(limit) + 1)
	case name == "maxItems" && v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), limit+1, limit+1))
	case (name == "maxLength" || name == "maxBytes") && v.Kind() == reflect.String:
		v.SetString(strings.Repeat("a", limit+1))
	default:
		return false
	}
	return true
}
