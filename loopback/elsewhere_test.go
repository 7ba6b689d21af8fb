package loopback_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/loopback"
)

// careless is an aggregator of servers that ignore preconditions, and whose watches show only one event.
type careless struct {
	loopback.Aggregator
	// before is called before each request.
	before func(path string)
	event  string
	opens  chan int
	// moves is the number of changes of the APIService when it is watched, and moved that of all changes.
	moves int64
	moved *atomic.Int64
}

func (c careless) Backend(schema.GroupVersion) any { return c.moved.Load() }

func (c careless) Client(by user.DefaultInfo) *http.Client {
	client := c.Aggregator.Client(by)
	next := client.Transport
	client.Transport = transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("watch") {
			c.moved.Add(c.moves)
			c.opens <- 1
			return respond(c.event), nil
		}
		c.before(r.URL.Path)
		if r.Method == http.MethodDelete {
			r.Body = nil
		}
		return next.RoundTrip(r)
	})
	return client
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body))}
}

// TestCarelessServers: nothing is deleted because of the deletion of another object of the name, or of one that a former
// server of the APIService shows. An object that has changed stays even if its server ignores preconditions.
func TestCarelessServers(t *testing.T) {
	for moves := range int64(2) {
		s, e, _ := extend(t)
		widget := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}
		absent := reference(create(t, s.Server, configMaps, "gone", nil, nil), nil)
		do(t, s.Server, "DELETE", configMaps+"/gone", "")
		owner := create(t, e.Server, v1widgets, "w", nil, widget)
		create(t, e.Server, v1widgets, "d", map[string]any{"ownerReferences": []any{absent}}, widget)
		create(t, s.Server, configMaps, "kept", map[string]any{"ownerReferences": []any{reference(owner, nil)}}, nil)
		uid := []any{"another", owner.GetUID()}[moves]
		c := careless{Aggregator: s.API.Aggregator(), moves: moves, moved: &atomic.Int64{}, opens: make(chan int, 100),
			event: fmt.Sprintf(`{"type":"DELETED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`+
				`"metadata":{"name":"w","namespace":"default","uid":%q}}}`, uid)}
		c.before = func(path string) {
			if strings.HasSuffix(path, "/widgets/d") {
				e.Do("PATCH", v1widgets+"/d", map[string]any{"metadata": map[string]any{"ownerReferences": nil}})
			}
		}
		during(t, collects(s, c))
		<-c.opens
		<-c.opens
		create(t, s.Server, configMaps, "last", map[string]any{"ownerReferences": []any{absent}}, nil)
		until(t, s.Server, configMaps+"/last", missing)
		for _, a := range []int{s.Do("GET", configMaps+"/kept", nil).Code, e.Do("GET", v1widgets+"/d", nil).Code} {
			if a != http.StatusOK {
				t.Errorf("moves %d: %d", moves, a)
			}
		}
	}
}

// ranked is an aggregator of two groups, which have an object each. The first group has two versions.
type ranked struct {
	loopback.Aggregator
	newest *atomic.Bool // the version v2 is more important
	opens  chan string
}

func (r ranked) Resources() (all []metav1.APIResource, _ []schema.GroupVersion) {
	for _, v := range map[bool][]string{false: {"v1", "v2"}, true: {"v2", "v1"}}[r.newest.Load()] {
		all = append(all, metav1.APIResource{Group: "a", Version: v, Kind: "Widget", Name: "widgets"})
	}
	all = append(all, metav1.APIResource{Group: "b", Version: "v1", Kind: "Widget", Name: "widgets"})
	for i := range all {
		all[i].Verbs, all[i].Namespaced = []string{"list", "watch", "delete"}, true
	}
	return all, nil
}

func (ranked) Backend(gv schema.GroupVersion) any { return gv }

func (r ranked) Client(user.DefaultInfo) *http.Client {
	return &http.Client{Transport: transport(func(request *http.Request) (*http.Response, error) {
		path := strings.Split(request.URL.Path, "/") // apis, the group, the version
		if !request.URL.Query().Has("watch") {
			return respond(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` +
				`"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"w","namespace":"default",` +
				`"uid":"uid-` + path[2] + `","resourceVersion":"1"}}]}`), nil
		}
		r.opens <- path[2] + "/" + path[3]
		<-request.Context().Done()
		return nil, request.Context().Err()
	})}
}

// TestPreferredVersionChanges: only the group's objects are listed and watched again, in the new version, and are the
// same owners.
func TestPreferredVersionChanges(t *testing.T) {
	s := apiservertest.StartSecured(t, nil)
	r := ranked{newest: &atomic.Bool{}, opens: make(chan string, 100)}
	dependent := func(name, group string) {
		create(t, s.Server, configMaps, name, map[string]any{"ownerReferences": []any{map[string]any{
			"apiVersion": group + "/v1", "kind": "Widget", "name": "w", "uid": "uid-" + group}}}, nil)
	}
	dependent("a", "a")
	dependent("b", "b")
	during(t, collects(s, r))
	if got := map[string]bool{<-r.opens: true, <-r.opens: true}; !got["a/v1"] || !got["b/v1"] {
		t.Fatal(got)
	}
	for i, want := range []string{"a/v2", "a/v1", "a/v2"} {
		r.newest.Store(i%2 == 0)
		if got := <-r.opens; got != want {
			t.Fatalf("%s, not %s", got, want)
		}
	}
	create(t, s.Server, configMaps, "last", map[string]any{
		"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "none"}}}, nil)
	until(t, s.Server, configMaps+"/last", missing)
	for _, name := range []string{"a", "b"} {
		if a := s.Do("GET", configMaps+"/"+name, nil); a.Code != http.StatusOK {
			t.Errorf("%s: %d", name, a.Code)
		}
	}
}
