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
)

// rule is a limit that a tag sets for a field: the name of the tag, and its number.
type rule struct {
	pkg, typ, field, tag string
	limit                int
}

func (r rule) String() string {
	s := r.pkg + "." + r.typ + "." + r.field + " " + r.tag
	if r.tag != "required" {
		s += "=" + strconv.Itoa(r.limit)
	}
	return s
}

// tagged are the lines of comments that this package understands; a level may precede the tag.
var tagged = regexp.MustCompile(
	`^\+k8s:(?:(?:alpha|beta)\(since: ?"[0-9.]+"\)=\+k8s:)?` +
		`(required|minimum|maximum|maxItems|maxLength|maxBytes)(?:=([0-9]+))?$`)

// directories are those of packages, by import path.
func directories(t *testing.T, packages []string) map[string]string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, packages...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all[pkg] = dir
	}
	return all
}

// rules are those of a package of k8s.io/api in a directory.
func rules(t *testing.T, pkg, dir string) (all []rule) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "types.go"), nil,
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if body, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range body.Fields.List {
				all = append(all, rulesOf(pkg, spec.Name.Name, field)...)
			}
		}
		return false
	})
	return all
}

func rulesOf(pkg, typ string, f *ast.Field) (all []rule) {
	if f.Doc == nil || len(f.Names) != 1 {
		return nil
	}
	for line := range strings.Lines(f.Doc.Text()) {
		if m := tagged.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			limit, _ := strconv.Atoi(m[2])
			all = append(all, rule{pkg, typ, f.Names[0].Name, m[1], limit})
		}
	}
	return all
}

// route returns the fields from a type to one that has the rule's field, which is the last; nil if there are none.
// Status is left out. Types that were seen have no route.
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

// violate sets the value of the rule's field to one that it doesn't allow; false if there is none for the Go type.
func (r rule) violate(v reflect.Value) bool {
	if r.tag == "required" {
		v.SetZero()
		return true
	}
	for v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case r.tag == "minimum" && v.CanInt():
		v.SetInt(min(int64(r.limit)-1, -1)) // 0 is a missing value
	case r.tag == "maximum" && v.CanInt():
		v.SetInt(int64(r.limit) + 1)
	case r.tag == "maxItems" && v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.limit+1, r.limit+1))
	case (r.tag == "maxLength" || r.tag == "maxBytes") && v.Kind() == reflect.String:
		v.SetString(strings.Repeat("a", r.limit+1))
	default:
		return false
	}
	return true
}
