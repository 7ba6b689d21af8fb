package inflight

import (
	"net/http"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

// HeadMemory is what a request's URL and headers take as long as it is served, with what its selectors become.
func HeadMemory(r *http.Request) int64 {
	n := int64(len(r.RequestURI))
	for name, values := range r.Header {
		for _, v := range values {
			n += int64(len(name)+len(v)) + render.FieldMemory/2
		}
	}
	query := r.URL.RawQuery
	n += int64(strings.Count(query, "&")) * render.FieldMemory / 2
	terms := strings.Count(query, ",") + strings.Count(query, "%2C") + strings.Count(query, "%2c")
	return 2*n + int64(terms)*render.TermMemory // of the URL there is a copy that is not escaped
}
