package render

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// RoutePrefix is the prefix of the paths that kube-apiserver does not have.
const RoutePrefix = "/kubecascade/v1/"

// Route is a path below RoutePrefix and its handler. It is a non-resource URL: RBAC grants it by nonResourceURLs, and
// the verb is the HTTP method in lower case.
type Route struct {
	// Path is relative to RoutePrefix, without a slash at the beginning: "tree".
	Path string
	// Methods are the HTTP methods. The default is GET. The response to other methods is 405.
	Methods []string
	// LongRunning is set for routes that wait or stream. They need no seat, like watches after their initial events.
	LongRunning bool
	// Serve handles the request. The context of the request ends when the client disconnects.
	Serve http.HandlerFunc
}

// Pattern returns the whole path.
func (r Route) Pattern() string { return RoutePrefix + r.Path }

// Handler serves the route's methods, and responds to others with 405.
func (r Route) Handler(log *slog.Logger) http.HandlerFunc {
	methods := r.Methods
	if len(methods) == 0 {
		methods = []string{http.MethodGet}
	}
	allow := strings.Join(methods, ", ")
	return func(w http.ResponseWriter, req *http.Request) {
		if !slices.Contains(methods, req.Method) {
			w.Header().Set("Allow", allow)
			Error(log, w, req, status.ErrNoMethod)
			return
		}
		r.Serve(w, req)
	}
}

// Paths returns the whole paths of the routes, sorted.
func Paths(routes []Route) []string {
	paths := make([]string, len(routes))
	for i, r := range routes {
		paths[i] = r.Pattern()
	}
	slices.Sort(paths)
	return paths
}

// Index returns a handler that lists the paths of the routes, as kube-apiserver does at / (AS
// pkg/server/routes/index.go).
func Index(routes []Route, log *slog.Logger) http.HandlerFunc {
	paths := Paths(routes)
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := json.MarshalIndent(map[string][]string{"paths": paths}, "", "  ")
		if err != nil {
			Error(log, w, r, err)
			return
		}
		w.Header().Set("Content-Type", codec.MediaJSON)
		Body(w, r, http.StatusOK, data)
	}
}

// IndexPath returns the path of the index without a slash at the end, because filters remove it.
func IndexPath() string { return strings.TrimSuffix(RoutePrefix, "/") }
