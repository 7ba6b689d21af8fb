package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneFileAKind: the entry of a built-in kind stands in a file of the kind's name, and its group lists it once.
func TestOneFileAKind(t *testing.T) {
	kinds := 0
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !below(name, "apiserver/resources") || strings.Contains(name, "/internal/") ||
			name == "apiserver/resources/entry" {
			continue
		}
		g := groupOf(t, p)
		for entry, file := range g.files {
			kinds++
			if want := strings.ToLower(g.kinds[entry]) + ".go"; file != want {
				t.Errorf("%s: the entry of %s is in %s, want %s", name, g.kinds[entry], file, want)
			}
			if n := slices.Index(g.listed, entry); n < 0 || slices.Contains(g.listed[n+1:], entry) {
				t.Errorf("%s: Resources does not list %s once", name, entry)
			}
		}
	}
	if kinds < 55 { // the others are made by functions that several kinds share
		t.Errorf("only %d kinds were found", kinds)
	}
}

// group is the information about its kinds in the source of a group's package.
type group struct {
	// files and kinds are by the name of the function that returns an entry.
	files, kinds map[string]string
	// listed are the functions that are called by those which return a list of entries (Resources).
	listed []string
}

func groupOf(t *testing.T, p pkg) group {
	t.Helper()
	g := group{files: map[string]string{}, kinds: map[string]string{}}
	for _, file := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch {
			case !ok || fn.Recv != nil:
			case lists(fn):
				g.listed = append(g.listed, calls(fn.Body)...)
			case kindMade(fn.Body) != "":
				g.files[fn.Name.Name], g.kinds[fn.Name.Name] = file, kindMade(fn.Body)
			}
		}
	}
	return g
}

// lists reports whether a function returns a list.
func lists(fn *ast.FuncDecl) bool {
	if fn.Type.Results == nil {
		return false
	}
	_, list := fn.Type.Results.List[0].Type.(*ast.ArrayType)
	return list && ast.IsExported(fn.Name.Name)
}

// calls are the functions of the package that a body calls.
func calls(body ast.Node) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
}

// kindMade is the Go type of the first entry.New[...] that a body returns in an entry.Resource, if it does.
func kindMade(body ast.Node) (kind string) {
	ast.Inspect(body, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok || kind != "" {
			return kind == ""
		}
		key, ok := kv.Key.(*ast.Ident)
		made, generic := kv.Value.(*ast.IndexExpr)
		if ok && generic && key.Name == "New" {
			if typ, ok := made.Index.(*ast.SelectorExpr); ok {
				kind = typ.Sel.Name
			}
		}
		return true
	})
	return kind
}
