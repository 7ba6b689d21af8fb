package invalid

import (
	"fmt"
	"strings"
)

const (
	// MaxSelector is the maximum length of a selector in bytes. MaxTerms is the maximum number of its terms, and of the
	// values in them. A watch keeps its selector, about 80 bytes for each term, and evaluates it for each event.
	// Upstream's only limit is the size of the request's header, which can have 500,000 terms.
	MaxSelector = 64 << 10
	MaxTerms    = 8192
)

// LongSelector returns the reason why a selector is too long, or an empty string.
func LongSelector(raw string) string {
	if len(raw) > MaxSelector {
		return fmt.Sprintf("has %d bytes, the allowed maximum is %d", len(raw), MaxSelector)
	}
	if n := strings.Count(raw, ",") + 1; n > MaxTerms {
		return fmt.Sprintf("has %d terms and values, the allowed maximum is %d", n, MaxTerms)
	}
	return ""
}
