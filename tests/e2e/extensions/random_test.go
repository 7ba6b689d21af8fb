package extensions

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/internal/seed"
)

const (
	plain  = "application/json"
	merge  = "application/merge-patch+json"
	patch  = "application/json-patch+json"
	applyM = "application/apply-patch+yaml"
)

// TestRandomRequestsHaveUpstreamsResponses: the responses to random requests for custom resources with several versions
// are those of apiextensions-apiserver.
func TestRandomRequestsHaveUpstreamsResponses(t *testing.T) {
	upstream, ours := startUpstream(t), startOurs(t)
	hook, ca := startWebhook(t)
	from := seed.Of(t)
	for i := range 14 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(from, uint64(i)))
			url := ""
			if i%2 == 1 {
				url = hook.URL
			}
			d := random(r, i, url, ca)
			u, o := *upstream, *ours
			d.install(t, &u)
			d.install(t, &o)
			u.forget()
			o.forget()
			p := &pair{upstream: &u, ours: &o, trace: []string{d.json}}
			for n := range 30 {
				w := &walk{pair: p, definition: d, r: r, name: fmt.Sprint("w", n)}
				w.run(t)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// walk sends requests for one object.
type walk struct {
	*pair
	definition
	r    *rand.Rand
	name string
	// last is the object in the last response, or nil.
	last any
}

func (w *walk) run(t *testing.T) {
	w.trace = w.trace[:1]
	for range 8 {
		c := w.next()
		a, same := w.do(t, c)
		if !same {
			return
		}
		if body, ok := a.Body.(tree); ok && body["kind"] == "W" {
			w.last = body
		}
		if _, same := w.do(t, call{"GET", w.path(w.version()) + "/" + w.name, "", ""}); !same {
			return
		}
	}
}

func (w *walk) version() string { return w.versions[w.r.IntN(len(w.versions))] }

func (w *walk) next() call {
	v := w.version()
	at := w.path(v) + "/" + w.name
	query := fmt.Sprintf("?fieldManager=m%d", w.r.IntN(3))
	switch w.r.IntN(6) {
	case 0:
		query += "&dryRun=All"
	case 1:
		query += "&fieldValidation=Strict"
	case 2:
		query += "&fieldValidation=Ignore"
	}
	sub := ""
	if w.r.IntN(6) == 0 && strings.Contains(w.json, `"status":{}`) {
		sub = "/status"
	}
	if w.r.IntN(6) == 0 && strings.Contains(w.json, `"scale":{`) {
		return w.scale(at+"/scale", query)
	}
	obj := w.object(w.r, v, w.name, 8)
	if w.last == nil && w.r.IntN(2) == 0 {
		return call{"POST", w.path(v) + query, plain, text(obj)}
	}
	switch w.r.IntN(8) {
	case 0:
		return call{"POST", w.path(v) + query, plain, text(obj)}
	case 1, 2:
		if last, ok := w.last.(tree); ok && w.r.IntN(8) > 0 {
			meta := last["metadata"].(tree)
			obj["metadata"].(tree)["resourceVersion"] = meta["resourceVersion"]
			if w.r.IntN(2) == 0 {
				obj["metadata"].(tree)["managedFields"] = meta["managedFields"]
			}
		}
		return call{"PUT", at + sub + query, plain, text(obj)}
	case 3:
		delete(obj, "metadata")
		delete(obj, "apiVersion")
		return call{"PATCH", at + sub + query, merge, text(obj)}
	case 4:
		ops := []any{}
		spec := obj["spec"].(tree)
		for _, f := range slices.Sorted(maps.Keys(spec)) {
			ops = append(ops, tree{"op": "add", "path": "/spec/" + f, "value": spec[f]})
		}
		return call{"PATCH", at + sub + query, patch, text(ops)}
	default:
		if w.r.IntN(2) == 0 {
			query += "&force=true"
		}
		return call{"PATCH", at + sub + query, applyM, text(obj)}
	}
}

func (w *walk) scale(at, query string) call {
	obj := tree{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": tree{"name": w.name}}
	if w.r.IntN(4) > 0 {
		obj["spec"] = tree{"replicas": w.r.IntN(4) - 1}
	}
	if last, ok := w.last.(tree); ok && w.r.IntN(2) == 0 {
		obj["metadata"].(tree)["resourceVersion"] = last["metadata"].(tree)["resourceVersion"]
		if w.r.IntN(2) == 0 {
			obj["metadata"].(tree)["managedFields"] = []any{}
		}
	}
	if w.r.IntN(4) == 0 {
		obj["status"] = tree{"replicas": 9, "selector": "x=y"}
	}
	switch w.r.IntN(12) {
	case 0:
		obj["metadata"].(tree)["labels"] = tree{"l": "scale"}
	case 1:
		obj["metadata"].(tree)["uid"] = "other"
	case 2:
		delete(obj, "metadata")
	case 4:
		obj["metadata"].(tree)["namespace"] = "other"
	case 5:
		obj["metadata"].(tree)["name"] = ""
	case 6:
		obj["metadata"].(tree)["resourceVersion"] = "x"
	}
	switch w.r.IntN(5) {
	case 0:
		return call{"GET", at, "", ""}
	case 1, 2:
		return call{"PUT", at + query, plain, text(obj)}
	case 3:
		return call{"PATCH", at + query, merge, text(obj)}
	}
	if w.r.IntN(2) == 0 {
		query += "&force=true"
	}
	return call{"PATCH", at + query, applyM, text(obj)}
}
