package authorization

import (
	"fmt"
	"strings"
)

const (
	// maxSelector is the maximum length of a selector in bytes. maxTerms is the maximum number of its terms, and of the
	// values in them. A watch keeps its selector, about 80 bytes for each term, and evaluates it for each event.
	// Upstream's only limit is the size of the request's header, which can have 500,000 terms.
	maxSelector = 64 << 10
	maxTerms    = 8192
)

// LongSelector returns the reason why a selector is too long, or an empty string.
func LongSelector(raw string) string {
	if len(raw) > maxSelector {
		return fmt.Sprintf("has %d bytes, the allowed maximum is %d", len(raw), maxSelector)
	}
	if n := strings.Count(raw, ",") + 1; n > maxTerms {
		return fmt.Sprintf("has %d terms and values, the allowed maximum is %d", n, maxTerms)
	}
	return ""
}
