package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/ui"
)

// Check is a named health check, which /readyz?verbose and /readyz/<name> show.
type Check struct {
	Name string
	// Live reports whether /livez runs the check, too: its failure means that a restart would help.
	Live bool
	Run  func(ctx context.Context) error
}

// Build is the source of a binary, as the go command records it. Unknown fields are empty: binaries of go run and of
// source archives have no commit.
type Build struct {
	// Commit is the commit of the checkout. State is "dirty" if the checkout had other changes, otherwise "clean". Date
	// is the time of the commit.
	Commit, State, Date string
	// Checkout reports whether the binary was built from a checkout.
	Checkout bool
}

// BuildOf returns the build of a binary.
func BuildOf(info *debug.BuildInfo) (i Build) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs":
			i.Checkout = true
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date = s.Value
		case "vcs.modified":
			if i.State = "clean"; s.Value == "true" {
				i.State = "dirty"
			}
		}
	}
	return i
}

// Version is the response of /version.
type Version = version.Info

func (s *Server) version(w http.ResponseWriter, r *http.Request) { s.indented(w, r, s.config.Version) }

// indented responds with a value as indented JSON.
func (s *Server) indented(w http.ResponseWriter, r *http.Request, value any) {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		render.Error(s.config.Log, w, r, err)
		return
	}
	w.Header().Set("Content-Type", codec.MediaJSON)
	render.Body(w, r, http.StatusOK, data)
}

// endpoint is a health path. include selects the checks that it runs.
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
			_, err := s.registry.Store.Revision(ctx)
			return err
		}},
		{Name: "informer-sync", Run: func(ctx context.Context) error { return s.registry.Fresh(ctx) }},
		{Name: "shutdown", Run: func(context.Context) error {
			select {
			case <-s.leaving:
				return fmt.Errorf("the server is shutting down")
			default:
				return nil
			}
		}},
	}, s.config.Checks...)
}

// health returns the handler of a health path. The handler runs the checks, or the named one, and responds like
// kube-apiserver: "ok", or the list of checks with ?verbose or if a check failed. ?exclude= skips checks (AS
// pkg/server/healthz: handleRootHealth).
func (s *Server) health(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		checks := s.checks()
		if name := chi.URLParam(r, "check"); name != "" {
			checks = slices.DeleteFunc(checks, func(c Check) bool { return c.Name != name })
		}
		checks = slices.DeleteFunc(checks, func(c Check) bool { return !e.include(c) })
		if len(checks) == 0 {
			http.NotFound(w, r)
			return
		}
		report, failed := s.examine(r.Context(), e, checks, requestinfo.Query(r)["exclude"])
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case failed:
			render.Body(w, r, http.StatusInternalServerError, []byte(report+e.name+" check failed\n"))
		case requestinfo.Query(r).Has("verbose"):
			render.Body(w, r, http.StatusOK, []byte(report+e.name+" check passed\n"))
		default:
			render.Body(w, r, http.StatusOK, []byte("ok"))
		}
	}
}

// examine runs the checks and writes a line for each. The reason for a failure is only logged, because anonymous
// clients may read the report.
func (s *Server) examine(
	ctx context.Context, e endpoint, checks []Check, exclude []string,
) (report string, failed bool) {
	unknown := map[string]bool{}
	for _, name := range exclude {
		unknown[name] = true
	}
	var b strings.Builder
	for _, c := range checks {
		if slices.Contains(exclude, c.Name) {
			delete(unknown, c.Name)
			fmt.Fprintf(&b, "[+]%s excluded: ok\n", c.Name)
			continue
		}
		err := within(ctx, c.Run)
		s.metrics.Health.Observe(c.Name, e.name, err)
		if err != nil {
			failed = true
			s.config.Log.Warn("health check failed", "endpoint", e.name, "check", c.Name, "err", err)
			fmt.Fprintf(&b, "[-]%s failed: reason withheld\n", c.Name)
			continue
		}
		fmt.Fprintf(&b, "[+]%s ok\n", c.Name)
	}
	if len(unknown) > 0 {
		fmt.Fprintf(
			&b, "warn: some health checks cannot be excluded: no matches for %s\n", quoted(slices.Sorted(maps.Keys(unknown))),
		)
	}
	return b.String(), failed
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ",")
}

// checkTime is the timeout of a check.
const checkTime = 2 * time.Second

func within(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return check(ctx)
}

// listed returns the paths that / lists.
func (s *Server) listed() []string {
	paths := []string{
		"/api", "/apis", "/healthz", "/livez", "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/readyz",
		"/version",
	}
	if s.config.Statusz {
		paths = append(paths, "/statusz")
	}
	if s.config.Flags != nil {
		paths = append(paths, "/flagz")
	}
	if s.config.Page {
		paths = append(paths, ui.Path)
	}
	for _, g := range s.registry.Types.Groups() {
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
		if !strings.HasSuffix(p, "*") {
			paths = append(paths, p)
		}
	}
	paths = append(append(paths, render.IndexPath()), render.Paths(s.config.Extensions)...)
	slices.Sort(paths)
	return paths
}

// paths handles /: it lists the served paths.
func (s *Server) paths(w http.ResponseWriter, r *http.Request) {
	s.indented(w, r, map[string][]string{"paths": s.listed()})
}
