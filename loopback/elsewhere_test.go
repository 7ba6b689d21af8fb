package loopback_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

func (c careless) Do(ctx context.Context, by user.DefaultInfo, method string, gv schema.GroupVersion, at url.URL,
	as string, body []byte) ([]byte, error) {
	c.before(at.Path)
	if method == http.MethodDelete {
		body = nil
	}
	return c.Aggregator.Do(ctx, by, method, gv, at, as, body)
}

func (c careless) Open(_ context.Context, _ user.DefaultInfo, _ string, _ schema.GroupVersion, _ url.URL, _ string,
	_ []byte) (io.ReadCloser, error) {
	c.moved.Add(c.moves)
	c.opens <- 1
	return io.NopCloser(strings.NewReader(c.event)), nil
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
			event: fmt.Sprintf(`{"type":"DELETED","object":{"metadata":{"name":"w","namespace":"default","uid":%q}}}`, uid)}
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

func (ranked) Do(_ context.Context, _ user.DefaultInfo, _ string, gv schema.GroupVersion, _ url.URL, _ string, _ []byte,
) ([]byte, error) {
	return fmt.Appendf(nil, `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"w","namespace":"default",`+
		`"uid":"uid-%s","resourceVersion":"1"}}]}`, gv.Group), nil
}

func (r ranked) Open(ctx context.Context, _ user.DefaultInfo, _ string, gv schema.GroupVersion, _ url.URL, _ string,
	_ []byte) (io.ReadCloser, error) {
	r.opens <- gv.String()
	<-ctx.Done()
	return nil, ctx.Err()
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
