package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

const (
	// annotation holds the token of the client that wrote an object last.
	annotation = "example.com/token"
	// requestTimeout is the time that a client waits for a response.
	requestTimeout = 3 * time.Second
)

// resource is a resource that the test writes.
type resource struct{ name, kind string }

var (
	resources  = []resource{{"configmaps", "ConfigMap"}, {"secrets", "Secret"}}
	namespaces = []string{"chaos-a", "chaos-b"}
)

func resourceOf(kind string) string {
	for _, r := range resources {
		if r.kind == kind {
			return r.name
		}
	}
	return kind
}

// kindOf returns the kind of the object at a key.
func kindOf(key string) string {
	for _, r := range resources {
		if strings.HasPrefix(key, r.name+"/") {
			return r.kind
		}
	}
	return ""
}

// object has the fields of an object that the test reads; Details are those of a Status.
type object struct {
	APIVersion string   `json:"apiVersion,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Metadata   metadata `json:"metadata"`
	Details    struct {
		UID string `json:"uid"`
	} `json:"details,omitzero"`
	Code int `json:"code,omitempty"`
}

type metadata struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	OwnerReferences   []reference       `json:"ownerReferences,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Continue          string            `json:"continue,omitempty"`
}

type reference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	BlockOwnerDeletion bool   `json:"blockOwnerDeletion,omitempty"`
}

// version returns the object's version for the checker.
func (o *object) version(resource string) check.Version {
	m := &o.Metadata
	return check.Version{Key: resource + "/" + m.Namespace + "/" + m.Name, Revision: revision(m.ResourceVersion),
		UID: m.UID, Token: m.Annotations[annotation]}
}

// revision parses a resourceVersion. It returns 0, which etcd never has, for an invalid one.
func revision(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// send sends a request; code is 0 if there was no response.
func (w *world) send(ctx context.Context, method, url, media string, body any) (code int, data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var encoded []byte
	if body != nil {
		if encoded, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	q, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(encoded))
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("Content-Type", media)
	a, err := w.http.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer a.Body.Close()
	data, err = io.ReadAll(a.Body)
	if err != nil {
		return 0, nil, err
	}
	return a.StatusCode, data, nil
}

// pick returns a server process that serves. ok is false if ctx ends first.
func (w *world) pick(ctx context.Context, r *rand.Rand) (id, url string, ok bool) {
	for ctx.Err() == nil {
		if id, url, ok = w.servers[r.IntN(len(w.servers))].current(); ok {
			return id, url, true
		}
		pause(ctx, 10*time.Millisecond)
	}
	return "", "", false
}

// pause waits between two requests of a client.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// at returns the URL of an object or a collection.
func at(url, key string) string {
	p := strings.Split(key, "/")
	url += "/api/v1/namespaces/" + p[1] + "/" + p[0]
	if p[2] != "" {
		url += "/" + p[2]
	}
	return url
}

var tokens atomic.Int64

type request struct {
	verb   check.Verb
	key    string
	owners []reference
	// over is the resourceVersion in the request, or empty.
	over string
	// keepOwners reports whether a patch leaves the owners unchanged.
	keepOwners bool
	uid        string
	policy     string
}

// write sends a request and records it.
func (w *world) write(ctx context.Context, id, url string, q request) *check.Write {
	r := &check.Write{Server: id, Verb: q.verb, Key: q.key, UID: q.uid, Over: revision(q.over)}
	method, contentType, target, body := w.form(q, r, url)
	r.Begin = w.now()
	code, data, err := w.send(ctx, method, target, contentType, body)
	r.End = w.now()
	var o object
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	switch {
	case err != nil || code >= 500 && code != http.StatusInsufficientStorage:
		r.Outcome = check.Ambiguous
	case code >= 300:
		r.Outcome = check.Rejected
	case o.Kind == "Status":
		r.UID = o.Details.UID
	case q.verb == check.Delete, o.Metadata.DeletionTimestamp != "" && len(o.Metadata.Finalizers) == 0:
		// An update that removes a terminating object's last finalizer removes the object (B-20).
		r.Verb, r.UID, r.Over = check.Delete, o.Metadata.UID, 0
	default:
		r.Revision = revision(o.Metadata.ResourceVersion)
	}
	w.answered(q.verb.String(), code)
	w.mu.Lock()
	w.h.Writes = append(w.h.Writes, r)
	w.mu.Unlock()
	w.known.learn(r, code, o.Metadata.UID)
	return r
}

func (w *world) form(q request, r *check.Write, url string) (method, contentType, target string, body any) {
	target = at(url, q.key)
	if q.verb == check.Delete {
		options := map[string]any{"propagationPolicy": q.policy}
		if q.uid != "" {
			options["preconditions"] = map[string]string{"uid": q.uid}
		}
		return http.MethodDelete, "application/json", target, options
	}
	r.Token = fmt.Sprintf("t%d", tokens.Add(1))
	p := strings.Split(q.key, "/")
	m := metadata{Name: p[2], Namespace: p[1], OwnerReferences: q.owners, ResourceVersion: q.over,
		Annotations: map[string]string{annotation: r.Token}}
	o := object{APIVersion: "v1", Kind: kindOf(q.key), Metadata: m}
	switch q.verb {
	case check.Create:
		return http.MethodPost, "application/json", strings.TrimSuffix(target, "/"+p[2]), o
	case check.Update:
		return http.MethodPut, "application/json", target, o
	}
	patch := map[string]any{"annotations": m.Annotations}
	if !q.keepOwners {
		patch["ownerReferences"] = q.owners
	}
	if q.over != "" {
		patch["resourceVersion"] = q.over
	}
	return http.MethodPatch, "application/merge-patch+json", target, map[string]any{"metadata": patch}
}
