package apiserver

import (
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/filters"
)

// profiles are the handlers of --profiling, by path, as in kube-apiserver. Unlike there they are off by default:
// profiles reveal the process' memory.
func profiles() map[string]http.Handler {
	return map[string]http.Handler{
		"/debug/pprof":         http.HandlerFunc(profileIndex),
		"/debug/pprof/*":       http.HandlerFunc(pprof.Index),
		"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
		"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
	}
}

// profileIndex is the page that links to the profiles. Its links are relative to a path with a slash at the end, to
// which a request without one is redirected (k8s.io/apiserver pkg/server/routes/profiling.go: redirectTo).
func profileIndex(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(filters.Asked(r), "/") {
		http.Redirect(w, r, "/debug/pprof/", http.StatusFound)
		return
	}
	pprof.Index(w, r)
}
