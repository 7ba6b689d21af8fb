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
	r.set(fields, name, strings.Join(append([]string{withoutProtobuf(value)}, plain...), " "))
	if len(declarative) > 0 {
		r.set(rules, name, strings.Join(declarative, "; "))
	}
}

func withoutProtobuf(tag string) string {
	before, rest, found := strings.Cut(tag, ` protobuf:"`)
	if !found {
		return tag
	}
	_, after, _ := strings.Cut(rest, `"`)
	return before + after
}
