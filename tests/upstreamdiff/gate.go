package main

import (
	"go/ast"
	"regexp"
	"strconv"
	"strings"
)

var (
	// stages matches the stages of a gate, each with its first minor version. settings matches the fields of a stage.
	stages   = regexp.MustCompile(`\{[^{}]*MustParse\("1\.(\d+)"\)[^{}]*\}`)
	settings = regexp.MustCompile(`(Default|PreRelease|LockToDefault): (?:\w+\.)?(\w+)`)
)

// gates records the gates of a map literal with the stages of each gate: map[Feature]VersionedSpecs.
func (r *reader) gates(e ast.Expr) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok || !strings.HasSuffix(r.text(lit.Type), "VersionedSpecs") {
		return
	}
	for _, elt := range lit.Elts {
		if pair, ok := elt.(*ast.KeyValueExpr); ok {
			r.set(gates, "", unqualified(r.text(pair.Key)), r.effective(r.text(pair.Value)))
		}
	}
}

// effective returns the stage of a gate in the reader's minor: the last stage whose version is not later.
func (r *reader) effective(specs string) string {
	last, effective := -1, "none yet"
	for _, s := range stages.FindAllStringSubmatch(specs, -1) {
		minor, _ := strconv.Atoi(s[1]) // digits
		if minor > r.minor || minor <= last {
			continue
		}
		set := map[string]string{"PreRelease": "GA", "Default": "false"}
		for _, field := range settings.FindAllStringSubmatch(s[0], -1) {
			set[field[1]] = field[2]
		}
		last, effective = minor, set["PreRelease"]+" "+set["Default"]
		if set["LockToDefault"] == "true" {
			effective += " locked"
		}
	}
	return effective
}
