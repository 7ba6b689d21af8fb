package arch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unbounded are apimachinery's functions that collect the errors of all that they are given; apiserver/invalid has
// bounded ones.
var unbounded = []string{"ValidateLabels", "ValidateAnnotations", "ValidateLabelSelector", "ValidateConditions",
	"ValidateFinalizers", "ValidateOwnerReferences", "ValidateManagedFields", "ValidateObjectMeta",
	"ValidateObjectMetaAccessor", "LabelSelectorAsSelector"}

// spared are calls for selectors that were validated before.
var spared = []string{
	"apiserver/admission/dynamic LabelSelectorAsSelector",
	"apiserver/registry LabelSelectorAsSelector", "apiserver/resources/internal/printing LabelSelectorAsSelector",
}

// TestErrorsAreBounded: a loop of the API server that collects errors ends where they are enough, as clients choose how
// long lists are. That is so of loops over invalid.Each, over what is written there, over package variables, and over
// the messages that another package has for one value.
func TestErrorsAreBounded(t *testing.T) {
	exports := exported(t, module+"/apiserver/...")
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !below(name, "apiserver") || name == "apiserver/invalid" ||
			!slices.Contains(p.Imports, "k8s.io/apimachinery/pkg/util/validation/field") {
			continue
		}
		c := checked(t, p, exports)
		for _, f := range c.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if why := c.wrong(n); why != "" {
					t.Errorf("%s: %s", c.fset.Position(n.Pos()), why)
				}
				return true
			})
		}
	}
}

// TestBoundsCheck: the check finds what it is for.
func TestBoundsCheck(t *testing.T) {
	const head = `package p
import ("k8s.io/apimachinery/pkg/util/validation/field"; "k8s.io/apimachinery/pkg/util/validation"; "` + module +
		`/apiserver/invalid")
var fixed = []string{"a"}
func visit(f func(string)) {}
func each(errs *field.ErrorList, f func(string)) {}
func find(s string) field.ErrorList { return nil }
func p(list []string, m map[string]string) (errs field.ErrorList) {
`
	exports := exported(t, module+"/apiserver/resources/core")
	for body, good := range map[string]bool{
		`for _, s := range list { errs = append(errs, find(s)...) }`:                                   false,
		`for i := range list { if i > 2 { errs = append(errs, find("")...) } }`:                        false,
		`for i := range len(list) { _ = i; errs = append(errs, nil) }`:                                 false,
		`for i := 0; i < len(list); i++ { errs = append(errs, nil) }`:                                  false,
		`for k := range m { errs = append(errs, find(k)...) }`:                                         false,
		`visit(func(s string) { errs = append(errs, find(s)...) })`:                                    false,
		`for _, s := range invalid.Each(list, nil) { errs = append(errs, find(s)...) }`:                false,
		`var other field.ErrorList; for range invalid.Each(list, &other) { errs = append(errs, nil) }`: false,
		`for _, s := range invalid.Each(list, &errs) { errs = append(errs, find(s)...) }`:              true,
		`each(&errs, func(s string) { errs = append(errs, find(s)...) })`:                              true,
		`for _, s := range fixed { errs = append(errs, find(s)...) }`:                                  true,
		`for _, s := range []string{"a", "b"} { errs = append(errs, find(s)...) }`:                     true,
		`for range validation.IsQualifiedName("a") { errs = append(errs, nil) }`:                       true,
		`for _, s := range list { var own field.ErrorList; own = append(own, find(s)...) }`:            true,
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(
			fset, "p.go", head+body+"\nreturn errs }\nvar _, _ = invalid.Enough, validation.IsQualifiedName", 0,
		)
		if err != nil {
			t.Fatal(err)
		}
		c := check(t, "p", fset, []*ast.File{f}, exports)
		found := ""
		ast.Inspect(f, func(n ast.Node) bool { found += c.wrong(n); return true })
		if (found == "") != good {
			t.Errorf("%s\nfound %q", body, found)
		}
	}
}

// typed is a package whose types are known.
type typed struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	pkg   *types.Package
}

// exported returns the files with the types of the packages and all that they import, by import path.
func exported(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
}

func checked(t *testing.T, p pkg, exports map[string]string) *typed {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return check(t, p.ImportPath, fset, files, exports)
}

func check(t *testing.T, path string, fset *token.FileSet, files []*ast.File, exports map[string]string) *typed {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no types of %s", path)
		}
		return os.Open(exports[path])
	})}
	pkg, err := config.Check(path, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	return &typed{fset, files, info, pkg}
}

// wrong says what is wrong with a node, or nothing.
func (c *typed) wrong(n ast.Node) string {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if errs := c.collects(n.Body, n.Pos()); errs != nil && !c.bounded(n.X, errs) {
			return "a loop collects errors without invalid.Each"
		}
	case *ast.ForStmt:
		if c.collects(n.Body, n.Pos()) != nil {
			return "a loop collects errors without invalid.Each"
		}
	case *ast.CallExpr:
		for _, arg := range n.Args {
			if f, ok := arg.(*ast.FuncLit); ok {
				if errs := c.collects(f.Body, f.Pos()); errs != nil && !c.passes(n, errs) {
					return "a function that may be called for each item collects errors, which aren't passed with it"
				}
			}
		}
	case *ast.SelectorExpr:
		f, ok := c.info.Uses[n.Sel].(*types.Func)
		if ok && slices.Contains(unbounded, f.Name()) && strings.HasPrefix(f.Pkg().Path(), "k8s.io/apimachinery/") &&
			!slices.Contains(spared, strings.TrimPrefix(c.pkg.Path(), module+"/")+" "+f.Name()) {
			return f.Name() + " collects the errors of all that it is given: see apiserver/invalid"
		}
	}
	return ""
}

// collects returns the list of errors from outside of the body that it appends to, if any.
func (c *typed) collects(body ast.Node, from token.Pos) (errs types.Object) {
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, left := range a.Lhs {
			id, ok := left.(*ast.Ident)
			if !ok {
				continue
			}
			o := c.info.Uses[id]
			if o != nil && o.Pos() < from && strings.HasSuffix(o.Type().String(), "/util/validation/field.ErrorList") {
				errs = o
			}
		}
		return true
	})
	return errs
}

// bounded says that what a loop ranges over is short or ends with enough errors.
func (c *typed) bounded(x ast.Expr, errs types.Object) bool {
	switch x := x.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		o := c.info.Uses[x]
		return o != nil && o.Parent() == c.pkg.Scope()
	case *ast.CallExpr:
		sel, ok := x.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		f := c.info.Uses[sel.Sel]
		switch {
		case f == nil || f.Pkg() == nil:
			return false
		case f.Pkg().Path() == module+"/apiserver/invalid":
			return f.Name() == "Each" && c.passes(x, errs)
		case f.Pkg().Path() == "reflect": // the number of a type's fields
			return true
		}
		return strings.HasPrefix(f.Pkg().Path(), "k8s.io/") && c.info.Types[x].Type.String() == "[]string"
	}
	return false
}

// passes says that a call has the address of errs among its arguments.
func (c *typed) passes(call *ast.CallExpr, errs types.Object) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		u, ok := arg.(*ast.UnaryExpr)
		if !ok || u.Op != token.AND {
			return false
		}
		id, ok := u.X.(*ast.Ident)
		return ok && c.info.Uses[id] == errs
	})
}
