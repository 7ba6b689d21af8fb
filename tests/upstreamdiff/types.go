package main

import (
	"go/ast"
	"path"
	"strings"
)

// typ records the fields of a struct with their types, tags and markers, the declarative rules of both, and the types
// that the type names.
func (r *reader) typ(t *ast.TypeSpec, doc *ast.CommentGroup) {
	typ := t.Name.Name
	if !t.Name.IsExported() {
		return
	}
	r.markers(typ, typ, r.kindOf(t.Type), doc)
	body, ok := t.Type.(*ast.StructType)
	if !ok {
		r.refer(typ, t.Type)
		return
	}
	for _, f := range body.Fields.List {
		r.refer(typ, f.Type)
		tag := ""
		if f.Tag != nil {
			tag = " " + f.Tag.Value
		}
		names := f.Names
		if len(names) == 0 { // embedded
			names = []*ast.Ident{{Name: r.text(f.Type)}}
		}
		for _, name := range names {
			if ast.IsExported(name.Name) || len(f.Names) == 0 {
				r.markers(typ, typ+"."+name.Name, r.text(f.Type)+tag, f.Doc)
			}
		}
	}
}

// refer records the types in an expression as types that typ names.
func (r *reader) refer(typ string, e ast.Expr) {
	of := path.Join(r.pkg, typ)
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok {
				r.refs[of] = append(r.refs[of], path.Join(r.imports[pkg.Name], n.Sel.Name))
			}
			return false
		case *ast.Ident:
			r.refs[of] = append(r.refs[of], path.Join(r.pkg, n.Name))
		}
		return true
	})
}

// kindOf returns the type's expression, or only "struct" or "interface".
func (r *reader) kindOf(e ast.Expr) string {
	switch e.(type) {
	case *ast.StructType:
		return "struct"
	case *ast.InterfaceType:
		return "interface"
	}
	return r.text(e)
}

// markers records the declaration of a type or a field, and the lines of its comment that begin with "+", without
// protobuf tags.
func (r *reader) markers(typ, name, value string, doc *ast.CommentGroup) {
	var plain, declarative []string
	if doc != nil {
		for line := range strings.Lines(doc.Text()) {
			line = strings.TrimSpace(line)
			switch {
			case !strings.HasPrefix(line, "+"):
			case strings.HasPrefix(line, "+k8s:deepcopy"), strings.HasPrefix(line, "+k8s:prerelease"),
				strings.HasPrefix(line, "+k8s:conversion"), strings.HasPrefix(line, "+k8s:openapi"):
			case strings.HasPrefix(line, "+k8s:"):
				declarative = append(declarative, line)
			default:
				plain = append(plain, line)
			}
		}
	}
	r.set(fields, typ, name, strings.Join(append([]string{plainTag(value)}, plain...), " "))
	if len(declarative) > 0 {
		r.set(rules, typ, name, strings.Join(declarative, "; "))
	}
}

// plainTag returns a field's tag without the parts that do not affect the JSON. Embedded fields are inline with or
// without the option.
func plainTag(tag string) string {
	tag = strings.Replace(tag, `json:",inline"`, `json:""`, 1)
	before, rest, found := strings.Cut(tag, ` protobuf:"`)
	if !found {
		return tag
	}
	_, after, _ := strings.Cut(rest, `"`)
	return before + after
}
