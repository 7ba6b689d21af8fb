package replay

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	placeholders = regexp.MustCompile(`\$\{(\w+)\}`)
	uids         = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	times        = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	// revisions are the resourceVersions in messages.
	revisions = []*regexp.Regexp{
		regexp.MustCompile(`(resourceVersion\W+)\d+`),
		regexp.MustCompile(`(too old resource version: \d+ \()\d+`),
		regexp.MustCompile(`(Too large resource version: \d+, current: )\d+`),
		regexp.MustCompile(`(in record \()(?:\d+|\$\{\w+\})`),
	}
)

// shortest is the minimum length of a saved value that is replaced in other strings. Shorter values occur by chance.
const shortest = 4

// names has the values that a scenario has saved, and the names of UIDs and resourceVersions.
type names struct {
	// saved has longer values first, because shorter ones may be parts of them. Values of equal length are in the order
	// of saving.
	saved          []variable
	uids, versions map[string]string
}

type variable struct{ name, value string }

func newNames(namespace string) *names {
	return &names{saved: []variable{{"ns", namespace}}, uids: map[string]string{}, versions: map[string]string{}}
}

// save saves a value under a name, and replaces an earlier value of this name.
func (n *names) save(name, value string) {
	n.saved = slices.DeleteFunc(n.saved, func(v variable) bool { return v.name == name })
	at := slices.IndexFunc(n.saved, func(v variable) bool { return len(v.value) < len(value) })
	if at < 0 {
		at = len(n.saved)
	}
	n.saved = slices.Insert(n.saved, at, variable{name, value})
}

// fill replaces each ${name} with its saved value. It does not change unknown names.
func (n *names) fill(s string) string {
	return n.filled(s, func(value string) string { return value })
}

// fillJSON fills the strings of a JSON document in the same way.
func (n *names) fillJSON(document []byte) ([]byte, error) {
	var failed error
	filled := n.filled(string(document), func(value string) string {
		quoted, err := encode(value)
		if err != nil {
			failed = err
			return ""
		}
		return string(quoted[1 : len(quoted)-1])
	})
	return []byte(filled), failed
}

func (n *names) filled(s string, as func(string) string) string {
	return placeholders.ReplaceAllStringFunc(s, func(p string) string {
		name := p[len("${") : len(p)-len("}")]
		for _, v := range n.saved {
			if v.name == name {
				return as(v.value)
			}
		}
		return p
	})
}

// text replaces the values in a string that differ from run to run with their names.
func (n *names) text(s string) string {
	for _, v := range n.saved {
		if len(v.value) < shortest {
			break
		}
		s = strings.ReplaceAll(s, v.value, "${"+v.name+"}")
	}
	s = uids.ReplaceAllStringFunc(s, func(uid string) string { return named(n.uids, uid, "UID") })
	for _, r := range revisions {
		s = r.ReplaceAllString(s, "${1}RV")
	}
	return times.ReplaceAllString(s, "TIME")
}

// version returns the name of an object's resourceVersion.
func (n *names) version(v string) string { return named(n.versions, v, "RV") }

// named returns the value's name. It gives a new value the next name.
func named(given map[string]string, value, prefix string) string {
	if given[value] == "" {
		given[value] = fmt.Sprintf("%s-%d", prefix, len(given)+1)
	}
	return given[value]
}
