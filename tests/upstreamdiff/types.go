package main

import (
	"go/ast"
	"strings"
)

// typ records the fields of a struct with their types, tags and markers, and the declarative rules of both.
func (r *reader) typ(t *ast.TypeSpec, doc *ast.CommentGroup) {
	if !t.Name.IsExported() {
		return
	}
	r.markers(t.Name.Name, r.kindOf(t.Type), doc)
	r.refer(t)
	body, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range body.Fields.List {
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
				r.markers(t.Name.Name+"."+name.Name, r.text(f.Type)+tag, f.Doc)
			}
		}
	}
}

// refer records the types that a type names.
func (r *reader) refer(t *ast.TypeSpec) {
	of := r.pkg + "." + t.Name.Name
	ast.Inspect(t.Type, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			ast.Inspect(n.Type, func(n ast.Node) bool { return r.reference(of, n) })
			return false
		case ast.Expr:
			return r.reference(of, n)
		}
		return true
	})
}

// reference records an expression if it is a type, and reports whether another type may be in it.
func (r *reader) reference(of string, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := n.X.(*ast.Ident); ok {
			r.refs[of] = append(r.refs[of], r.imports[pkg.Name]+"."+n.Sel.Name)
		}
		return false
	case *ast.Ident:
		r.refs[of] = append(r.refs[of], r.pkg+"."+n.Name)
	}
	return true
}

// kindOf is the type's expression, or only "struct" or "interface".
func (r *reader) kindOf(e ast.Expr) string {
	switch e.(type) {
	case *ast.StructType:
		return "struct"
	case *ast.InterfaceType:
		return "interface"
	}
	return r.text(e)
}

// markers records the declaration of a type or a field, and the lines of its comment that begin with "+". Protobuf tags
// are left out of it.
func (r *reader) markers(name, value string, doc *ast.CommentGroup) {
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
	r.set(fields, name, strings.Join(append([]string{plainTag(value)}, plain...), " "))
	if len(declarative) > 0 {
		r.set(rules, name, strings.Join(declarative, "; "))
	}
}

// plainTag is a field's tag without what the JSON does not depend on. Embedded fields are inline with or without the
// option.
func plainTag(tag string) string {
	tag = strings.Replace(tag, `json:",inline"`, `json:""`, 1)
	before, rest, found := strings.Cut(tag, ` protobuf:"`)
	if !found {
		return tag
	}
	_, after, _ := strings.Cut(rest, `"`)
	return before + after
}
