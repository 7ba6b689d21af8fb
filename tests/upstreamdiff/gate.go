package main

import (
	"go/ast"
	"regexp"
	"strconv"
	"strings"
)

var (
	// stages are those of a gate, each from a minor version on. settings are the fields of one, without packages.
	stages   = regexp.MustCompile(`\{[^{}]*MustParse\("1\.(\d+)"\)[^{}]*\}`)
	settings = regexp.MustCompile(`(Default|PreRelease|LockToDefault): (?:\w+\.)?(\w+)`)
)

// gates records those that a map literal with the stages of each declares: map[Feature]VersionedSpecs.
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

// effective is the stage of a gate in this minor: the last one whose version is not above it.
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
