package extensions

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

type tree = map[string]any

// forms are the possible schemas of each field of spec; nil means none.
var forms = map[string][]tree{
	"a": {{"type": "integer"}, {"type": "integer"}, {"type": "integer", "minimum": 0}},
	"b": {nil, {"type": "string"}, {"type": "string"}, {"type": "integer"}},
	"c": {nil, {"type": "object", "properties": tree{"x": tree{"type": "integer"}}},
		{"type": "object", "properties": tree{"x": tree{"type": "integer"}, "y": tree{"type": "integer"}}},
		{"type": "object", "properties": tree{"x": tree{"type": "integer"}, "y": tree{"type": "integer", "default": 3}}},
		{
			"type": "object", "x-kubernetes-map-type": "atomic",
			"properties": tree{"x": tree{"type": "integer"}, "y": tree{"type": "integer"}},
		}},
	"d": {
		nil, {"type": "string"}, {"type": "string", "default": "d1"}, {"type": "string", "default": "d2"},
		{"type": "string", "nullable": true}, {"type": "string", "nullable": true, "default": "d3"},
	},
	"e": {nil, nil, {"type": "integer", "default": 7}},
	"l": {nil, list(tree{"name": tree{"type": "string"}, "v": tree{"type": "integer"}}),
		list(tree{"name": tree{"type": "string"}, "v": tree{"type": "integer"}, "w": tree{"type": "integer"}}),
		list(tree{"name": tree{"type": "string"}, "w": tree{"type": "integer", "default": 5}}),
		{"type": "array", "items": tree{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
	"s": {
		nil, {"type": "array", "x-kubernetes-list-type": "set", "items": tree{"type": "string"}},
		{"type": "array", "items": tree{"type": "string"}},
	},
	"p": {nil, {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": tree{"x": tree{"type": "integer"}}},
		{"type": "object", "additionalProperties": tree{"type": "integer"}}},
}

func list(properties tree) tree {
	return tree{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"},
		"items": tree{"type": "object", "required": []any{"name"}, "properties": properties}}
}

// values are the possible values of each field in requests.
var values = map[string][]any{
	"a": {1, 2, 3, -1, "text"},
	"b": {"x", "y", 1, 2},
	"c": {tree{}, tree{"x": 1}, tree{"x": 2}, tree{"y": 1}, tree{"x": 1, "y": 2}, tree{"x": nil}, tree{"y": nil}},
	"d": {"x", "y", nil, nil},
	"e": {1, nil},
	"l": {[]any{}, []any{tree{"name": "1"}}, []any{tree{"name": "1", "v": 1}},
		[]any{tree{"name": "1", "v": 1, "w": 2}, tree{"name": "2"}},
		[]any{tree{"name": "2", "w": 1}}, []any{tree{"name": "1"}, tree{"name": "1"}}, []any{tree{"name": "1", "w": nil}}},
	"s": {[]any{"1"}, []any{"2", "1"}, []any{"3"}, []any{"1", "1"}, []any{}},
	"p": {tree{"x": 1}, tree{"z": 1}, tree{"x": tree{"deep": true}}, tree{}, tree{"z": nil}},
	"u": {1}, // no version's schema has it
}

// definition is a CustomResourceDefinition that is the same on both servers.
type definition struct {
	group    string
	versions []string
	fields   []string
	json     string
}

// random returns a definition with two or three versions. url is the URL of a conversion webhook.
func random(r *rand.Rand, i int, url string, ca []byte) definition {
	d := definition{group: fmt.Sprintf("g%d.x.io", i)}
	d.versions = []string{"v1", "v1beta1", "v1alpha1"}[:2+r.IntN(2)]
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		if name == "a" || r.IntN(2) == 0 {
			fields = append(fields, name)
		}
	}
	d.fields = append(slices.Clone(fields), "u")
	stored := r.IntN(len(d.versions))
	alike := r.IntN(3) == 0
	status, scale := r.IntN(3) > 0, r.IntN(2) == 0
	var versions []any
	var spec tree
	for n, name := range d.versions {
		if n == 0 || !alike {
			spec = tree{"replicas": tree{"type": "integer"}}
			for _, f := range fields {
				if form := forms[f][r.IntN(len(forms[f]))]; form != nil {
					spec[f] = form
				}
			}
		}
		v := tree{"name": name, "served": true, "storage": n == stored,
			"schema": tree{"openAPIV3Schema": tree{"type": "object", "properties": tree{
				"spec": tree{"type": "object", "properties": spec},
				"status": tree{"type": "object", "properties": tree{
					"replicas": tree{"type": "integer"}, "selector": tree{"type": "string"}, "phase": tree{"type": "string"},
				}}}}}}
		sub := tree{}
		if status {
			sub["status"] = tree{}
		}
		if scale {
			sub["scale"] = tree{
				"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
				"labelSelectorPath": ".status.selector",
			}
		}
		v["subresources"] = sub
		versions = append(versions, v)
	}
	conversion := tree{"strategy": "None"}
	if url != "" {
		conversion = tree{
			"strategy": "Webhook",
			"webhook":  tree{"conversionReviewVersions": []any{"v1"}, "clientConfig": tree{"url": url, "caBundle": ca}},
		}
	}
	data, err := json.Marshal(tree{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": tree{"name": "ws." + d.group},
		"spec": tree{"group": d.group, "scope": "Namespaced",
			"names":    tree{"plural": "ws", "singular": "w", "kind": "W", "listKind": "WList"},
			"versions": versions, "conversion": conversion}})
	if err != nil {
		panic(err) // trees of JSON values
	}
	d.json = string(data)
	return d
}

func (d definition) path(version string) string {
	return "/apis/" + d.group + "/" + version + "/namespaces/default/ws"
}

// install creates the definition and waits until each version is served.
func (d definition) install(t *testing.T, s *server) {
	t.Helper()
	if a := s.do(t, call{
		"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", d.json,
	}); a.Code != http.StatusCreated {
		t.Fatalf("creating %s: %v", d.json, a)
	}
	if s.bare {
		const established = `{"status":{"acceptedNames":{"plural":"ws","singular":"w","kind":"W","listKind":"WList"},
			"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`
		if a := s.do(t, call{
			"PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws." + d.group + "/status", merge, established,
		}); a.Code != http.StatusOK {
			t.Fatalf("establishing %s: %v", d.json, a)
		}
	}
	for _, v := range d.versions {
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if r, err := s.client.Get(s.url + d.path(v)); err != nil {
				t.Fatal(err)
			} else if r.Body.Close(); r.StatusCode == http.StatusOK {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf(
					"%s isn't served: %v %v", d.path(v), s.do(t, call{"GET", d.path(v), "", ""}),
					s.do(t, call{"GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws." + d.group, "", ""}),
				)
			}
		}
	}
}

// object returns a random object's JSON.
func (d definition) object(r *rand.Rand, version, name string, rare int) tree {
	spec := tree{}
	for _, f := range d.fields {
		if r.IntN(3) == 0 && (f != "u" || r.IntN(rare) == 0) {
			n := len(values[f])
			if f == "a" && r.IntN(rare) > 0 {
				n = 3
			}
			spec[f] = values[f][r.IntN(n)]
		}
	}
	if r.IntN(3) == 0 {
		spec["replicas"] = r.IntN(3)
	}
	meta := tree{"name": name}
	if r.IntN(4) == 0 {
		meta["labels"] = tree{"l": fmt.Sprint(r.IntN(2))}
	}
	if r.IntN(6) == 0 {
		meta["finalizers"] = []any{"x.io/f"}
	}
	obj := tree{"apiVersion": d.group + "/" + version, "kind": "W", "metadata": meta, "spec": spec}
	if r.IntN(4) == 0 {
		obj["status"] = tree{"phase": fmt.Sprint("p", r.IntN(2)), "replicas": r.IntN(3)}
	}
	return obj
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // trees of JSON values
	}
	return strings.TrimSpace(string(data))
}
