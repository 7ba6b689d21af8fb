package main

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"
)

// stage is a gate from a version on.
type stage struct {
	minor       int
	description string
}

// gates records those that a map literal with the stages of each declares: map[Feature]VersionedSpecs.
func (r *reader) gates(e ast.Expr) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return
	}
	m, ok := lit.Type.(*ast.MapType)
	if !ok || !strings.HasSuffix(r.text(m.Value), "VersionedSpecs") {
		return
	}
	for _, elt := range lit.Elts {
		pair, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		specs, ok := pair.Value.(*ast.CompositeLit)
		if !ok {
			continue
		}
		name := r.text(pair.Key)
		r.set(gates, name[strings.LastIndex(name, ".")+1:], r.effective(specs.Elts))
	}
}

// effective is the stage of the gate in this minor: the last one whose version is not above it.
func (r *reader) effective(specs []ast.Expr) string {
	best := stage{-1, "none yet"}
	for _, spec := range specs {
		lit, ok := spec.(*ast.CompositeLit)
		if !ok {
			continue
		}
		if s := r.stage(lit); s.minor <= r.minor && s.minor > best.minor {
			best = s
		}
	}
	return best.description
}

func (r *reader) stage(lit *ast.CompositeLit) stage {
	values := map[string]string{"PreRelease": "GA", "Default": "false"}
	for _, elt := range lit.Elts {
		if pair, ok := elt.(*ast.KeyValueExpr); ok {
			text := r.text(pair.Value)
			values[r.text(pair.Key)] = text[strings.LastIndex(text, ".")+1:]
			if call, ok := pair.Value.(*ast.CallExpr); ok && len(call.Args) == 1 {
				values[r.text(pair.Key)], _ = strconv.Unquote(r.text(call.Args[0]))
			}
		}
	}
	_, number, _ := strings.Cut(values["Version"], ".")
	n, _ := strconv.Atoi(number) // 0 without one
	pre := values["PreRelease"]
	if pre == `""` {
		pre = "GA"
	}
	locked := ""
	if values["LockToDefault"] == "true" {
		locked = " locked"
	}
	return stage{n, fmt.Sprintf("%s %s%s", pre, values["Default"], locked)}
}
