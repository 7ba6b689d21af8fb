package storagetest

import (
	"log/slog"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

// Open returns an ephemeral store that is closed when the test ends. Warnings go to the test's log.
func Open(t testing.TB) *storage.Etcd {
	t.Helper()
	return OpenConfig(t, storage.Config{Ephemeral: true})
}

// OpenConfig is Open for any configuration.
func OpenConfig(t testing.TB, c storage.Config) *storage.Etcd {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	e, err := storage.Open(t.Context(), c)
	if err != nil {
		t.Fatalf("opening the store: %v", err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}
