package loopback_test

import (
	"context"
	"slices"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/controllers/namespace"
	"github.com/kubecascade/kubecascade/loopback"
)

// TestNamespaceFollow: a feed of namespaces has the deletions in namespaces that are being deleted, and no others. They
// cause the next pass, which otherwise waits for a time that grows.
func TestNamespaceFollow(t *testing.T) {
	s := apiservertest.Start(t, nil)
	api := &loopback.Namespaces{API: s.API.Loopback(authorization.Loopback, "test"), Cache: s.Cache}
	events := make(chan namespace.Event, 1024)
	during(t, func(ctx context.Context) { _ = api.Follow(ctx, func(e namespace.Event) { events <- e }) }) // ends with ctx
	<-events                                                                                              // the namespaces that exist
	until := func(want namespace.Event) (seen []namespace.Event) {
		for {
			e := <-events
			e.Revision = 0
			if e == want {
				return seen
			}
			seen = append(seen, e)
		}
	}
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	const path = "/api/v1/namespaces/n/configmaps"
	create(t, s, path, "early", nil, nil)
	create(t, s, path, "late", nil, nil)
	do(t, s, "DELETE", path+"/early", "")
	do(t, s, "DELETE", "/api/v1/namespaces/n", "")
	removed := namespace.Event{Type: namespace.Removed, Namespace: "n"}
	seen := until(namespace.Event{Type: namespace.Exists, Namespace: "n", Deleting: true})
	if slices.Contains(seen, removed) {
		t.Error("a deletion in a namespace that isn't being deleted was sent")
	}
	do(t, s, "DELETE", path+"/late", "")
	until(removed)
}
