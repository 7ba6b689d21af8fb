package declarative

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/rules.txt")

// byHand are the groups with enforced rules that are written by hand, with the reason.
var byHand = map[string]string{
	"k8s.io/api/core/v1":  "the fields have gates that are off, except in ReplicationController, whose code would contain pods'",
	"k8s.io/api/apps/v1":  "the fields have gates that are off",
	"k8s.io/api/batch/v1": "the fields have gates that are off, except the schedule, whose code would contain pods'",
}

// enforced are lines of comments with a rule that kube-apiserver enforces: not of the level alpha. Others change no
// error by themselves.
var enforced = regexp.MustCompile(`^\+k8s:(?:beta\(since: ?"[0-9.]+"\)=\+k8s:)?((?:customValidation|dependentRequired|` +
	`eachKey|eachVal|enum|format|forbidden|ifDisabled|ifEnabled|immutable|item|listType=map|listType=set|maxBytes|` +
	`maxItems|maxLength|maximum|memberValidation|minimum|modeDiscriminator|neq|required|subfield|unionDiscriminator|` +
	`unionMember|unique|update|zeroOrOneOfMember)\b.*)$`)

// TestTable: testdata/rules.txt has, for each kind, the number of enforced rules that are generated, or those that are
// written by hand, with the reason.
func TestTable(t *testing.T) {
	kinds := map[string]reflect.Type{}
	packages := map[string]bool{}
	for _, r := range resources.Builtin() {
		typ := reflect.TypeOf(r.New()).Elem()
		if strings.HasPrefix(typ.PkgPath(), "k8s.io/api/") {
			kinds[strings.TrimPrefix(typ.PkgPath(), "k8s.io/api/")+" "+typ.Name()] = typ
			packages[typ.PkgPath()] = true
		}
	}
	dirs, rules := directories(t, slices.Sorted(maps.Keys(packages))), map[string][]string{}
	for pkg, dir := range dirs {
		enforcedRules(t, pkg, filepath.Join(dir, "types.go"), rules)
	}
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		typ, found := kinds[name], map[string]bool{}
		within(typ, found, map[reflect.Type]bool{}, rules)
		reason := byHand[typ.PkgPath()]
		switch {
		case len(found) == 0:
			fmt.Fprintf(&table, "%s: no enforced rule\n", name)
		case reason == "" && generated(t, typ.PkgPath()):
			fmt.Fprintf(&table, "%s: %d generated\n", name, len(found))
		case reason == "":
			t.Errorf("the rules of %s are neither generated nor written by hand", name)
		default:
			fmt.Fprintf(&table, "%s: %d by hand, as %s:\n", name, len(found), reason)
			for _, rule := range slices.Sorted(maps.Keys(found)) {
				fmt.Fprintf(&table, "  %s\n", rule)
			}
		}
	}
	const file = "testdata/rules.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), table.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +got; -rewrite writes the file):\n%s", err, diff)
	}
}

// generated reports whether the group of a package has generated validation, in its package or below declared.
func generated(t *testing.T, pkg string) bool {
	t.Helper()
	group := strings.TrimPrefix(pkg, "k8s.io/api/")
	for _, docs := range []string{"../../*/doc.go", "../../internal/declared/*/doc.go"} {
		files, err := filepath.Glob(docs)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "\n// +k8s:validation-gen-input=k8s.io/api/"+group+"\n") {
				return true
			}
		}
	}
	return false
}

// within collects the rules of a type and of those within it.
func within(of reflect.Type, found map[string]bool, seen map[reflect.Type]bool, rules map[string][]string) {
	if seen[of] {
		return
	}
	seen[of] = true
	for _, rule := range rules[of.PkgPath()+"."+of.Name()] {
		found[strings.TrimPrefix(rule, "k8s.io/api/")] = true
	}
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		within(of.Elem(), found, seen, rules)
	case reflect.Struct:
		for i := range of.NumField() {
			if of.Field(i).IsExported() {
				within(of.Field(i).Type, found, seen, rules)
			}
		}
	}
}

// enforcedRules adds the rules of a package's types, by the type.
func enforcedRules(t *testing.T, pkg, file string, to map[string][]string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.TypeSpec)
			of := pkg + "." + spec.Name.Name
			to[of] = append(to[of], tagsOf(of, decl.Doc)...)
			body, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range body.Fields.List {
				name := ""
				if len(field.Names) > 0 {
					name = "." + field.Names[0].Name
				}
				to[of] = append(to[of], tagsOf(of+name, field.Doc)...)
			}
		}
	}
}

func tagsOf(place string, doc *ast.CommentGroup) (all []string) {
	if doc == nil {
		return nil
	}
	for _, line := range doc.List {
		if m := enforced.FindStringSubmatch(strings.TrimSpace(strings.TrimPrefix(line.Text, "//"))); m != nil {
			all = append(all, place+" "+m[1])
		}
	}
	return all
}
