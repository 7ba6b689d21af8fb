package gc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// ServeHTTP serves the graph of owners and dependents (D-90 to D-93): in the DOT language of Graphviz, or with
// ?format=json as a list of objects; ?uid= restricts it to the objects that are connected with that uid, and may be
// repeated. Mount it at /debug/controllers/garbage-collector-controller/*. It responds with 404 without a body to other
// paths than /graph, and with 503 while the collector doesn't run, or is nil.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isGraph(r.URL.Path) {
		http.Error(w, "", http.StatusNotFound)
		return
	}
	views, ok := c.snapshot(r)
	if !ok {
		http.Error(w, "the garbage collector is not running", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.URL.Query().Get("format") == "json" {
		w.Header().Set("Content-Type", "application/json")
		_ = writeJSON(w, views) // an error means that the client has closed the connection
		return
	}
	w.Header().Set("Content-Type", "text/vnd.graphviz")
	_ = writeDOT(w, views)
}

// isGraph reports whether the path is that of the graph: with a trailing slash it is another path (D-90).
func isGraph(p string) bool {
	controller, name := path.Split(p)
	return name == "graph" && path.Dir(path.Clean(controller)) == "/debug/controllers"
}

// snapshot requests the graph from the goroutine of Run; ok is false if the collector doesn't run.
func (c *Collector) snapshot(r *http.Request) (views []graph.View, ok bool) {
	if c == nil {
		return nil, false
	}
	select {
	case <-c.started:
	default:
		return nil, false
	}
	views, err := ask(r.Context(), c, func(_ context.Context, reply chan<- []graph.View) {
		reply <- c.graph.Snapshot(r.URL.Query()["uid"])
	})
	return views, err == nil
}

// writeDOT writes the graph as in D-92 and D-93. A missing owner is one vertex, with its own uid (J-30).
func writeDOT(to io.Writer, views []graph.View) error {
	w := bufio.NewWriter(to)
	fmt.Fprintln(w, "strict digraph full {")
	if len(views) > 0 {
		fmt.Fprintln(w, "  // Node definitions.")
	}
	edges := 0
	for _, v := range views {
		writeNode(w, v)
		edges += len(v.Owners)
	}
	if edges > 0 {
		fmt.Fprintln(w, "  // Edge definitions.")
	}
	for _, v := range views {
		for _, o := range v.Owners {
			fmt.Fprintf(w, "  %q -> %q;\n", v.UID, o)
		}
	}
	fmt.Fprintln(w, "}")
	return w.Flush()
}

func writeNode(w io.Writer, v graph.View) {
	group, version := split(v.APIVersion)
	fmt.Fprintf(w, "  %q [\n", v.UID)
	for _, attribute := range [...]struct {
		key   string
		value any
	}{
		{"label", label(v)}, {"group", group}, {"version", version}, {"kind", v.Kind},
		{"namespace", v.Namespace}, {"name", v.Name}, {"uid", v.UID}, {"missing", v.Missing},
		{"beingDeleted", v.Deleting}, {"deletingDependents", v.Waiting}, {"virtual", false},
	} {
		fmt.Fprintf(w, "    %s=%q\n", attribute.key, fmt.Sprint(attribute.value))
	}
	fmt.Fprintln(w, "  ];")
}

// label returns the label of a vertex (D-92).
func label(v graph.View) string {
	group, version := split(v.APIVersion)
	kind := v.Kind + "." + version
	if group != "" {
		kind += "." + group
	}
	text := fmt.Sprintf("uid=%s\nnamespace=%s\n%s/%s\n", v.UID, v.Namespace, kind, v.Name)
	var flags []string
	for _, f := range [...]struct {
		on   bool
		name string
	}{{v.Deleting, "beingDeleted"}, {v.Waiting, "deletingDependents"}, {v.Missing, "missingFromGraph"}} {
		if f.on {
			flags = append(flags, f.name)
		}
	}
	if len(flags) > 0 {
		text += strings.Join(flags, ",") + "\n"
	}
	return text
}

// split splits an apiVersion; the core group is empty.
func split(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}

// vertex is one object of the JSON form.
type vertex struct {
	UID        string   `json:"uid"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name"`
	Revision   int64    `json:"resourceVersion,omitempty,string"`
	Owners     []string `json:"owners,omitempty"`
	Missing    bool     `json:"missing,omitempty"`
	Deleting   bool     `json:"beingDeleted,omitempty"`
	Waiting    bool     `json:"deletingDependents,omitempty"`
	Releasing  bool     `json:"orphaningDependents,omitempty"`
	// State is the object's state in the collector, and Attempts how often its request has failed.
	State    string `json:"state,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
}

func writeJSON(w io.Writer, views []graph.View) error {
	vertices := make([]vertex, len(views))
	for i, v := range views {
		vertices[i] = vertex{
			UID: v.UID, APIVersion: v.APIVersion, Kind: v.Kind, Namespace: v.Namespace, Name: v.Name,
			Revision: v.Revision, Owners: v.Owners, Missing: v.Missing, Deleting: v.Deleting,
			Waiting: v.Waiting, Releasing: v.Releasing, Attempts: v.Attempts,
		}
		if v.State != graph.Idle {
			vertices[i].State = v.State.String()
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(vertices)
}
