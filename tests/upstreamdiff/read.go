package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// reader collects the facts of modules. The stages of feature gates are those of a Kubernetes minor.
type reader struct {
	facts facts
	// refs are the types that each type names, by package and name.
	refs  map[string][]string
	pkg   string
	minor int
	fset  *token.FileSet
	// imports are the packages that the file imports.
	imports map[string]string
}

func newReader(minor int) *reader {
	return &reader{facts: facts{}, refs: map[string][]string{}, minor: minor, fset: token.NewFileSet()}
}

func (r *reader) read(dir, module string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !source(d.Name()):
			return nil
		}
		within, err := filepath.Rel(dir, filepath.Dir(name))
		if err != nil {
			return err
		}
		r.pkg = path.Join(module, filepath.ToSlash(within))
		return r.file(name)
	})
}

// skipped reports whether a directory has tests, or clients that are generated from the types.
func skipped(name string) bool {
	switch name {
	case "testdata", "testing", "test", "applyconfigurations", "informers", "listers", "fake", "examples", "sample":
		return true
	}
	return false
}

func source(name string) bool {
	generated := strings.HasPrefix(name, "zz_generated") || strings.HasPrefix(name, "generated") ||
		strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, "_swagger_doc_generated.go")
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !generated
}

func (r *reader) file(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(r.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	r.set(files, "", filepath.Base(name), fmt.Sprintf("%x", sha256.Sum256(text)))
	r.imports = map[string]string{}
	for _, spec := range f.Imports {
		of, _ := strconv.Unquote(spec.Path.Value) // the parser accepts no other paths
		name := path.Base(of)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		r.imports[name] = of
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			r.declaration(d)
		case *ast.FuncDecl:
			r.calls(d)
		}
	}
	return nil
}

func (r *reader) set(s section, typ, name, value string) { r.facts[fact{s, r.pkg, typ, name}] = value }

func (r *reader) declaration(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil {
				doc = d.Doc
			}
			r.typ(spec, doc)
		case *ast.ValueSpec:
			switch d.Tok {
			case token.CONST:
				r.constants(spec)
			case token.VAR:
				for _, v := range spec.Values {
					r.gates(v)
				}
			}
		}
	}
}

// constants records the constants whose type is of their package. They are mostly the values of enums.
func (r *reader) constants(spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if !ok || !typ.IsExported() {
		return
	}
	for i, name := range spec.Names {
		if i < len(spec.Values) {
			r.set(enums, typ.Name, typ.Name+" "+name.Name, r.text(spec.Values[i]))
		}
	}
}

// calls records the messages of errors and warnings in a function, and the kinds that it registers.
func (r *reader) calls(d *ast.FuncDecl) {
	if d.Body == nil {
		return
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := unqualified(r.text(call.Fun))
		if name == "AddKnownTypes" {
			r.kinds(call)
		}
		if strings.HasPrefix(r.pkg, "k8s.io/api/") || !reports(name) {
			return true
		}
		for _, arg := range call.Args {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) > 4 {
				r.set(messages, "", d.Name.Name+" "+name+" "+lit.Value, "")
			}
		}
		return true
	})
}

// kinds records the types that a call of AddKnownTypes registers.
func (r *reader) kinds(call *ast.CallExpr) {
	for _, arg := range call.Args {
		if unary, ok := arg.(*ast.UnaryExpr); ok {
			if lit, ok := unary.X.(*ast.CompositeLit); ok {
				name := r.text(lit.Type)
				r.set(kinds, name, name, "")
			}
		}
	}
}

// reports reports whether a function of this name makes an error or a warning from its arguments.
func reports(name string) bool {
	switch name {
	case "Errorf", "Invalid", "Forbidden", "Required", "Duplicate", "NotSupported", "TypeInvalid", "InternalError",
		"TooLong", "TooMany", "AddWarning":
		return true
	}
	made, ok := strings.CutPrefix(name, "New")
	return ok && (made == "" || strings.Contains(made, "Err") || strings.HasPrefix(made, "Bad"))
}

// text returns an expression in one line.
func (r *reader) text(e ast.Node) string {
	var b strings.Builder
	if err := printer.Fprint(&b, r.fset, e); err != nil {
		return fmt.Sprintf("%T", e)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// unqualified returns a name without its package.
func unqualified(name string) string { return name[strings.LastIndex(name, ".")+1:] }
