package controllers

import (
	"fmt"
	"slices"
	"strings"
)

// None is the value of --controllers that disables all. An empty value means the same, as in kube-controller-manager,
// but a shell or a manifest easily loses it.
const None = "none"

// Select parses --controllers: the first word for a name counts, and '*' means all other names that are on by default
// (K cmd/kube-controller-manager: IsControllerEnabled). absent has the selected names that only kube-controller-manager
// has.
func Select(words []string) (on map[string]bool, absent []string, err error) {
	on = map[string]bool{}
	if len(words) == 1 && words[0] == None {
		return on, nil, nil
	}
	mentioned := map[string]bool{}
	for _, w := range words {
		if w == "*" {
			continue
		}
		word, off := strings.CutPrefix(w, "-")
		name := Find(word)
		switch {
		case w == None:
			return nil, nil, fmt.Errorf("--controllers: %q can't be combined with %s", None, without(words, w))
		case name == "":
			return nil, nil, fmt.Errorf("--controllers: unknown controller %q; valid are '*', '%s', %s, and without effect %s",
				word, None, strings.Join(Names(), ", "), strings.Join(Absent(), ", "))
		case mentioned[name]:
			continue
		}
		mentioned[name] = true
		switch here := slices.Contains(Names(), name); {
		case here:
			on[name] = !off
		case !off:
			absent = append(absent, name)
		}
	}
	all := slices.Contains(words, "*")
	for _, c := range table {
		if !mentioned[c.Name] {
			on[c.Name] = all && !c.Off
		}
	}
	return on, absent, nil
}

func without(words []string, w string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(s string) bool { return s == w }), ", ")
}
