package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// servedWithin is the limit for a CustomResourceDefinition to be served; a real server takes a few seconds.
const servedWithin = 30 * time.Second

// Define creates a custom resource for the case, and waits until it is served. It fails if definitions are stored but
// not served.
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

// served waits until the definition is established and its resource can be listed.
func (t *T) served(k Kind, d *Object) {
	limit := time.Now().Add(servedWithin)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		a, err := t.client.do(t.ctx, http.MethodGet, k.Path(t.prefix, ""), "", nil)
		now, _, errNow := t.get(d)
		if err == nil && a.Code == http.StatusOK && errNow == nil && Established.Met(now) {
			return
		}
		if time.Now().After(limit) || t.ctx.Err() != nil {
			f := Failure{Expected: fmt.Sprintf("%s to be established, and %s to be served", d, k.Path(t.prefix, "")),
				Seen: "not within " + servedWithin.String() + ": the server doesn't serve custom resources", Object: now.YAML()}
			if err == nil {
				f.Seen, f.Request = f.Seen+fmt.Sprintf("; it responds %d: %s", a.Code, a.Message()), a.Curl
			}
			t.fail(f)
		}
		select {
		case <-time.After(pause):
		case <-t.ctx.Done():
		}
	}
}

// Established: the definition is served.
var Established = present("be established", func(o *Object) bool { return ConditionStatus(o, "Established") == "True" })

// ConditionStatus is the status of a condition in an object's status, or "".
func ConditionStatus(o *Object, name string) string {
	status, _ := conditionOf(o, name)["status"].(string)
	return status
}

// ConditionMessage is the message of a condition in an object's status, or "".
func ConditionMessage(o *Object, name string) string {
	message, _ := conditionOf(o, name)["message"].(string)
	return message
}

func conditionOf(o *Object, name string) map[string]any {
	status, _ := o.Object["status"].(map[string]any)
	all, _ := status["conditions"].([]any)
	for _, c := range all {
		if m, ok := c.(map[string]any); ok && m["type"] == name {
			return m
		}
	}
	return nil
}
