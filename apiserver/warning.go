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
	if w == nil || text == "" || w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.texts = append(w.texts, text)
}

// write sets the headers. A text that can't be a header is dropped, and counts for nothing.
func (w *warnings) write(h http.Header) {
	written, cut := 0, false
	for i, text := range w.texts {
		if cut && written >= maxWarnings {
			return
		}
		if cut {
			text = firstRunes(text, maxWarningText)
		}
		value, err := utilnet.NewWarningHeader(299, "-", text)
		if err != nil {
			continue
		}
		if n := utf8.RuneCountInString(text); cut || written+n <= maxWarnings {
			written += n
			h.Add("Warning", value)
			continue
		}
		cut = true
		written = rewrite(h, w.texts[:i+1])
	}
}

// rewrite starts over with shortened texts, and returns how many runes they have. There is no bound
// here: that is for those who come later.
func rewrite(h http.Header, texts []string) (written int) {
	h.Del("Warning")
	for _, text := range texts {
		text = firstRunes(text, maxWarningText)
		if value, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			written += utf8.RuneCountInString(text)
			h.Add("Warning", value)
		}
	}
	return written
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
