package render

import (
	"net/http"
	"strings"
)

// GzipFrom is the size from which answers are compressed for who accepts it
// (AS responsewriters: defaultGzipThresholdBytes, which isn't yet).
const GzipFrom = 128<<10 + 1

// AcceptsGzip looks for the bare word; weights are no reason to compress
// (AS responsewriters: negotiateContentEncoding).
func AcceptsGzip(r *http.Request) bool {
	for token := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}
