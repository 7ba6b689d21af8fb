package apiserver

import (
	"net/http"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Bounds of 0-12, in runes.
const (
	maxWarnings    = 4096
	maxWarningText = 256
)

// warnings collects the texts of a request's Warning headers: each once, in order, within the
// bounds of 0-12.
type warnings struct {
	texts []string
	seen  map[string]bool
}

func (w *warnings) add(text string) {
	if w == nil || w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.texts = append(w.texts, text)
}

// write sets the headers. A text that can't be a header is dropped.
func (w *warnings) write(h http.Header) {
	total := 0
	for _, t := range w.texts {
		total += utf8.RuneCountInString(t)
	}
	cut, total := total > maxWarnings, 0
	for _, t := range w.texts {
		if cut {
			t = firstRunes(t, maxWarningText)
		}
		if total += utf8.RuneCountInString(t); total > maxWarnings {
			return
		}
		if v, err := utilnet.NewWarningHeader(299, "-", t); err == nil {
			h.Add("Warning", v)
		}
	}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
