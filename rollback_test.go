package kubecascade_test

import (
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade"
)

// TestRollbackNeedsTemporaryData: servers with persistent data and read-only servers can't be rolled back; the error
// names the field.
func TestRollbackNeedsTemporaryData(t *testing.T) {
	dir, _ := saved(t)
	for want, o := range map[string]kubecascade.Options{
		"with Options.Storage.Dir the data outlives the server": {Storage: kubecascade.Storage{Dir: dir}},
		"a server that is read-only does not change":            {Storage: kubecascade.Storage{FromSnapshot: dir}},
	} {
		server := start(t, o)
		for what, do := range map[string]func() error{
			"checkpoint": func() error { return server.Checkpoint(t.Context(), "") },
			"rollback":   func() error { return server.Rollback(t.Context(), "") },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestRollbackFork: a server with a copy of a snapshot can be rolled back to its state at the start.
func TestRollbackFork(t *testing.T) {
	dir, _ := saved(t)
	server := start(t, kubecascade.Options{Storage: kubecascade.Storage{FromSnapshot: dir, Writable: true}})
	s := newSession(t, server)
	if err := server.Checkpoint(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	list := s.must(200, "GET", configMaps, "")
	s.must(200, "DELETE", configMaps+"/owner", "")
	if err := server.Rollback(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if again := s.must(200, "GET", configMaps, ""); strings.Count(again, `"uid"`) != strings.Count(list, `"uid"`) {
		t.Errorf("after the rollback %s, want %s", again, list)
	}
}
