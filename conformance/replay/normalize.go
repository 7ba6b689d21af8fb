package replay

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

var (
	digits = regexp.MustCompile(`^\d+$`)
	age    = regexp.MustCompile(`^(\d+[smhdy])+$`)
)

// normalize returns a value without the ignored fields, and with names in place of values that differ from run to run.
// path is the path of the value in its document: a dot precedes each field, and items of a list end in [].
func (n *names) normalize(v any, ignore []string, path string) any {
	switch v := v.(type) {
	case object:
		return n.normalizeObject(v, ignore, path)
	case []any:
		return n.normalizeList(v, ignore, path)
	case string:
		return n.text(v)
	}
	return v
}

func (n *names) normalizeObject(o object, ignore []string, path string) object {
	out := object{}
	for _, f := range o {
		at := f.key
		if path != "" {
			at = path + "." + f.key
		}
		if slices.ContainsFunc(ignore, func(i string) bool { return at == i || strings.HasSuffix(at, "."+i) }) {
			continue
		}
		switch version, _ := f.value.(string); {
		case f.key == "resourceVersion" && digits.MatchString(version):
			name := "RV"
			if !ofList(o, path) {
				name = n.version(version)
			}
			out = append(out, field{f.key, name})
		case f.key == "continue" && version != "":
			out = append(out, field{f.key, "CONTINUE"})
		default:
			value := n.normalize(f.value, ignore, at) // the value gets its name before the key, as in recordings
			out = append(out, field{n.text(f.key), value})
		}
	}
	return out
}

// ofList reports whether metadata is that of a list or a bookmark. Its resourceVersion depends on other clients'
// writes.
func ofList(metadata object, path string) bool {
	_, named := metadata.get("name")
	_, paged := metadata.get("continue")
	if paged && !named {
		return true
	}
	return strings.HasSuffix(path, "metadata") && !slices.ContainsFunc(metadata, func(f field) bool {
		return f.key != "resourceVersion" && f.key != "continue" && f.key != "remainingItemCount"
	})
}

func (n *names) normalizeList(list []any, ignore []string, path string) []any {
	if strings.HasSuffix(path, "managedFields") { // they are in the order of times in whole seconds
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b any) int {
			return cmp.Or(compareFields(a, b, "manager"), compareFields(a, b, "operation"), compareFields(a, b, "subresource"))
		})
	}
	out := make([]any, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok && strings.HasSuffix(path, "cells") && age.MatchString(s) {
			v = "AGE"
		}
		out = append(out, n.normalize(v, ignore, path+"[]"))
	}
	return out
}

// compareFields compares strings at the same path of two values. A missing string counts as empty.
func compareFields(a, b any, path string) int {
	x, _ := find(a, path).(string)
	y, _ := find(b, path).(string)
	return cmp.Compare(x, y)
}
