package invalid

import (
	"fmt"
	"strings"
)

const (
	// MaxSelector is the maximum length of a selector in bytes. MaxTerms is the maximum number of terms and of values
	// in them. A watch keeps its selector, some 80 bytes per term, and evaluates it for each event. Upstream's only
	// limit is that of the request's header, in which 500,000 terms fit.
	MaxSelector = 64 << 10
	MaxTerms    = 8192
)

// LongSelector returns the reason why a selector is too long; empty if it is not.
func LongSelector(raw string) string {
	if len(raw) > MaxSelector {
		return fmt.Sprintf("has %d bytes, the allowed maximum is %d", len(raw), MaxSelector)
	}
	if n := strings.Count(raw, ",") + 1; n > MaxTerms {
		return fmt.Sprintf("has %d terms and values, the allowed maximum is %d", n, MaxTerms)
	}
	return ""
}
