package loopback_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/loopback"
)

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
		"kept": {"w", uid}, "other-uid": {"w", "x"}, "absent": {"never", "y"}, "no-name": {"..", "z"},
	} {
		dependent(name, of[0], of[1])
	}
	g := loopback.NewGarbageCollector(loopback.GarbageCollectorOptions{
		Cache: s.Cache, Root: s.Decoder.Root, Log: slog.New(slog.DiscardHandler),
	})
	run := g.With(s.API.Loopback(authorization.Loopback, "test"), s.API.Aggregator())
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
	for _, name := range []string{"kept", "no-name", "unknown"} {
		if a := s.Do("GET", configMaps+"/"+name, nil); a.Code != http.StatusOK {
			t.Errorf("%s: %d", name, a.Code)
		}
	}
}
