package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// servedWithin is the time within which a server must serve a new CustomResourceDefinition. A real server takes a few
// seconds.
const servedWithin = 30 * time.Second

// Define creates a CustomResourceDefinition for the case, and waits until its resource is served. The case fails if the
// server stores CustomResourceDefinitions but does not serve their resources.
func (t *T) Define(name string, clusterScoped bool) (Kind, *Object) {
	plural := strings.ToLower(name) + "s"
	k := Kind{
		Group: t.prefix + ".conformance.example.com", Version: "v1", Name: name, Plural: plural, ClusterScoped: clusterScoped,
	}
	scope := "Namespaced"
	if clusterScoped {
		scope = "Cluster"
	}
	d := newObject(Definition, "", plural+"."+k.Group)
	d.Object["spec"] = map[string]any{
		"group": k.Group, "scope": scope,
		"names": map[string]any{"plural": plural, "singular": strings.ToLower(name), "kind": name, "listKind": name + "List"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
	}
	d = t.create(d)
	t.served(k, d)
	return k, d
}

// served waits until the CustomResourceDefinition is established and its resource can be listed.
func (t *T) served(k Kind, d *Object) {
	ctx, cancel := context.WithTimeout(t.ctx, servedWithin)
	defer cancel()
	path, response := k.Path(t.prefix, ""), ""
	f := Failure{Expected: fmt.Sprintf("%s to be established, and %s to be served", d, path)}
	served := poll(ctx, func() bool {
		now, _, _ := t.get(d) // nil after an error
		f.Object = now.YAML()
		a, err := t.client.do(t.ctx, http.MethodGet, path, "", nil)
		if err != nil {
			return false
		}
		response, f.Request = fmt.Sprintf("; it responds %d: %s", a.Code, a.Message()), a.Curl
		return a.Code == http.StatusOK && Established.Met(now)
	})
	if !served {
		f.Seen = "not within " + servedWithin.String() + ": the server doesn't serve custom resources" + response
		t.fail(f)
	}
}
