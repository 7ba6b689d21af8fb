package extract

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source has the relevant declarations of one package.
type source struct {
	structs []structure
	// enums are the string types marked +enum, in order of declaration; values by type name.
	enums  []string
	values map[string][]string
	// consts are the string constants by name.
	consts map[string]string
	// find returns the directory of an imported package, whose constants some enums repeat.
	find func(path string) (dir string, err error)
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

func parsePackage(dir string, find func(path string) (string, error)) (*source, error) {
	decls, err := declarations(dir)
	if err != nil {
		return nil, err
	}
	s := &source{values: map[string][]string{}, consts: map[string]string{}, find: find}
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

func declarations(dir string) ([]declaration, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var decls []declaration
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(
			token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution,
		)
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
		doc := t.Doc
		if doc == nil {
			doc = d.Doc
		}
		found := readTags(doc)
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
	dir, err := s.find(path)
	if err != nil {
		return nil, fmt.Errorf("locating %s: %w", path, err)
	}
	other, err := parsePackage(dir, s.find)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	value, ok := other.consts[name]
	if !ok {
		return nil, fmt.Errorf("%s.%s isn't a string constant", path, name)
	}
	return &value, nil
}
