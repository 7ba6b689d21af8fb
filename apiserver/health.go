package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// Check is a named health check, shown by /readyz?verbose and at /readyz/<name>.
type Check struct {
	Name string
	// Live says that it belongs to /livez too: its failure means that a restart would help.
	Live bool
	Run  func(ctx context.Context) error
}

// Version is what /version answers (k8s.io/apimachinery/pkg/version).
type Version struct {
	Major        string `json:"major"`
	Minor        string `json:"minor"`
	GitVersion   string `json:"gitVersion"`
	GitCommit    string `json:"gitCommit"`
	GitTreeState string `json:"gitTreeState"`
	BuildDate    string `json:"buildDate"`
	GoVersion    string `json:"goVersion"`
	Compiler     string `json:"compiler"`
	Platform     string `json:"platform"`
}

func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	data, err := json.MarshalIndent(s.config.Version, "", "  ")
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", mediaJSON)
	write(w, r, http.StatusOK, data)
}

// endpoint is which checks a path runs.
type endpoint struct {
	name    string
	include func(Check) bool
}

var (
	allChecks   = endpoint{"healthz", func(Check) bool { return true }}
	liveChecks  = endpoint{"livez", func(c Check) bool { return c.Live }}
	readyChecks = endpoint{"readyz", func(Check) bool { return true }}
)

func (s *Server) checks() []Check {
	return append([]Check{
		{Name: "ping", Live: true, Run: func(context.Context) error { return nil }},
		{Name: "etcd", Live: true, Run: func(ctx context.Context) error {
			_, err := s.store.Revision(ctx)
			return err
		}},
		{Name: "informer-sync", Run: func(ctx context.Context) error { return s.fresh(ctx) }},
		{Name: "shutdown", Run: func(context.Context) error {
			select {
			case <-s.closing:
				return fmt.Errorf("the server is shutting down")
			default:
				return nil
			}
		}},
	}, s.config.Checks...)
}

// health runs the endpoint's checks, or the one that is named, and prints them as kube-apiserver
// does: "ok", or the list of checks if asked for (?verbose) or if one failed; ?exclude= leaves
// some out.
func (s *Server) health(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		only, excluded := chi.URLParam(r, "check"), r.URL.Query()["exclude"]
		var b strings.Builder
		failed, found := false, false
		for _, c := range s.checks() {
			if !e.include(c) || only != "" && c.Name != only {
				continue
			}
			found = true
			switch err := c.Run(r.Context()); {
			case slices.Contains(excluded, c.Name):
				fmt.Fprintf(&b, "[+]%s excluded: ok\n", c.Name)
			case err != nil:
				failed = true
				s.log.Warn("health check failed", "endpoint", e.name, "check", c.Name, "err", err)
				fmt.Fprintf(&b, "[-]%s failed: reason withheld\n", c.Name)
			default:
				fmt.Fprintf(&b, "[+]%s ok\n", c.Name)
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case only != "" && !found:
			http.NotFound(w, r)
		case failed:
			fmt.Fprintf(&b, "%s check failed\n", e.name)
			write(w, r, http.StatusInternalServerError, []byte(b.String()))
		case r.URL.Query().Has("verbose"):
			fmt.Fprintf(&b, "%s check passed\n", e.name)
			write(w, r, http.StatusOK, []byte(b.String()))
		default:
			write(w, r, http.StatusOK, []byte("ok"))
		}
	}
}

// paths lists what is served, at /.
func (s *Server) paths(w http.ResponseWriter, r *http.Request) {
	paths := []string{"/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}
	for _, g := range s.types.Groups() {
		if g.Name == "" {
			paths = append(paths, "/api/v1")
			continue
		}
		paths = append(paths, "/apis/"+g.Name)
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+g.Name+"/"+v)
		}
	}
	for p := range s.config.Debug {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	data, err := json.MarshalIndent(map[string][]string{"paths": paths}, "", "  ")
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", mediaJSON)
	write(w, r, http.StatusOK, data)
}
