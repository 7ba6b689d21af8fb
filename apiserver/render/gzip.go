package render

import (
	"net/http"
	"strings"
)

// GzipFrom is the size in bytes from which responses are compressed for clients that accept it (AS responsewriters:
// defaultGzipThresholdBytes, which itself is not compressed).
const GzipFrom = 128<<10 + 1

// AcceptsGzip searches for the bare word gzip; one with a q-value is ignored (AS responsewriters:
// negotiateContentEncoding).
func AcceptsGzip(r *http.Request) bool {
	for token := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}
