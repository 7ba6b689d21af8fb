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

// RoutePrefix is what the paths begin with that kube-apiserver does not have.
const RoutePrefix = "/kubecascade/v1/"

// Route is a path below RoutePrefix and its handler: a non-resource URL, which RBAC grants by nonResourceURLs, with the
// HTTP method in lower case as the verb.
type Route struct {
	// Path is relative to RoutePrefix, without a slash at the beginning: "tree".
	Path string
	// Methods are the HTTP methods; none means GET. Others are answered 405.
	Methods []string
	// LongRunning routes wait or stream for long: they need no seat, as watches need none after their initial events.
	LongRunning bool
	// Serve answers the request. Its context ends when the client goes away.
	Serve http.HandlerFunc
}

// Pattern is the whole path.
func (r Route) Pattern() string { return RoutePrefix + r.Path }

// Handler serves the route's methods, and answers others 405.
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

// Paths are the whole paths of the routes, sorted.
func Paths(routes []Route) []string {
	paths := make([]string, len(routes))
	for i, r := range routes {
		paths[i] = r.Pattern()
	}
	slices.Sort(paths)
	return paths
}

// Index serves the paths of the routes, in the form of kube-apiserver's index at / (AS pkg/server/routes/index.go).
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

// IndexPath is the path of the index, as the routes see it: filters take the slash off its end.
func IndexPath() string { return strings.TrimSuffix(RoutePrefix, "/") }
