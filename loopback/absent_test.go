package loopback_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/loopback"
)

// collects returns a function that collects garbage, also on other servers.
func collects(s *apiservertest.Secured, others loopback.Aggregator) func(context.Context) {
	g := loopback.NewGarbageCollector(loopback.CollectorConfig{
		Timeline: s.Cache, Root: s.Decoder.Root, Log: slog.New(slog.DiscardHandler),
	})
	return g.With(s.API.Loopback(authorization.Loopback, "test"), others)
}

// TestForegroundDeletionAcrossServers: an owner waits for its dependent on the other server, in both directions. A
// reference to an absent owner is removed first.
func TestForegroundDeletionAcrossServers(t *testing.T) {
	s, e, _ := extend(t)
	widget := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}
	absent := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "absent", "uid": "absent"}
	during(t, collects(s, s.API.Aggregator()))
	for _, at := range []struct {
		owners, dependents *apiservertest.Server
		owner, dependent   string
		owning, depending  map[string]any
	}{{s.Server, e.Server, configMaps, v1widgets, nil, widget}, {e.Server, s.Server, v1widgets, configMaps, widget, nil}} {
		owner, dependent := at.owner+"/o", at.dependent+"/d"
		create(t, at.dependents, at.dependent, "d", map[string]any{"finalizers": []any{"example.com/held"},
			"ownerReferences": []any{reference(create(t, at.owners, at.owner, "o", nil, at.owning), true), absent}}, at.depending)
		until(t, at.dependents, dependent, func(a apiservertest.Answer) bool {
			return len(a.Object().GetOwnerReferences()) == 1
		})
		do(t, at.owners, "DELETE", owner+"?propagationPolicy=Foreground", "")
		until(t, at.dependents, dependent, func(a apiservertest.Answer) bool {
			return a.Object().GetDeletionTimestamp() != nil
		})
		if a := at.owners.Do("GET", owner, nil); a.Code != http.StatusOK {
			t.Errorf("%s does not wait: %d", owner, a.Code)
		}
		do(t, at.dependents, "PATCH", dependent, `{"metadata":{"finalizers":null}}`)
		until(t, at.owners, owner, missing)
	}
	s.API.CloseWatches() // ends the reads of documents, too
	do(t, s.Server, "PATCH", apiServices+"/"+aggregated, `{"metadata":{"annotations":{"read":"again"}}}`)
	s.Settle()
	if _, stale := s.API.Aggregator().Resources(); len(stale) != 1 {
		t.Error(stale)
	}
}

// TestOwnersOnOtherServers: the collector deletes the dependents of an object of another server when that answers that
// there is no such object, and none of an owner that exists, or while the server does not answer (J-25).
func TestOwnersOnOtherServers(t *testing.T) {
	s, e, changes := extend(t)
	do(t, e.Server, "POST", v1widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)
	uid := string(e.Do("GET", v1widgets+"/w", nil).Object().GetUID())
	dependent := func(name, owner, uid string) {
		do(t, s.Server, "POST", configMaps, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":`+
			`"example.com/v1","kind":"Widget","name":%q,"uid":%q}]}}`, name, owner, uid))
	}
	for name, of := range map[string][2]string{
		"kept": {"w", uid}, "other-uid": {"w", "x"}, "absent": {"never", "y"}, "no-name": {"..", "z"}, "unclear": {"unclear", "a"},
	} {
		dependent(name, of[0], of[1])
	}
	run := collects(s, s.API.Aggregator())
	stop := during(t, run)
	until(t, s.Server, configMaps+"/other-uid", missing)
	until(t, s.Server, configMaps+"/absent", missing)
	stop()
	e.fails(t, s.Server, changes)
	dependent("unknown", "never", "v")
	stop = during(t, run)
	owner := create(t, s.Server, configMaps, "owner", nil, nil) // what it collects shows that it has looked
	create(t, s.Server, configMaps, "dependent", map[string]any{"ownerReferences": []any{reference(owner, nil)}}, nil)
	do(t, s.Server, "DELETE", configMaps+"/owner", "")
	until(t, s.Server, configMaps+"/dependent", missing)
	stop()
	for _, name := range []string{"kept", "no-name", "unclear", "unknown"} {
		if a := s.Do("GET", configMaps+"/"+name, nil); a.Code != http.StatusOK {
			t.Errorf("%s: %d", name, a.Code)
		}
	}
}
