package server

import (
	"net/http"
	"net/http/pprof"
)

// profiles are the handlers of --profiling, by path, as in kube-apiserver. Unlike there they are off by default:
// profiles reveal the process' memory.
func profiles() map[string]http.Handler {
	return map[string]http.Handler{
		"/debug/pprof/*":       http.HandlerFunc(pprof.Index),
		"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
		"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
	}
}
