package invalid

import (
	"fmt"
	"strings"
)

const (
	// MaxSelector bounds the bytes of a selector, and MaxTerms what its commas separate: terms, and values in them. A
	// watch keeps its selector, some 80 bytes a term, and asks it about each event. Upstream bounds only the request's
	// header, in which 500,000 terms fit.
	MaxSelector = 64 << 10
	MaxTerms    = 8192
)

// LongSelector says in which way a selector is longer than one may be; empty if it is not.
func LongSelector(raw string) string {
	if len(raw) > MaxSelector {
		return fmt.Sprintf("has %d bytes, the allowed maximum is %d", len(raw), MaxSelector)
	}
	if n := strings.Count(raw, ",") + 1; n > MaxTerms {
		return fmt.Sprintf("has %d terms and values, the allowed maximum is %d", n, MaxTerms)
	}
	return ""
}
