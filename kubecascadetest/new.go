package kubecascadetest

import (
	"log/slog"
	"testing"

	"github.com/kubecascade/kubecascade"
)

// New starts a server that is stopped at the end of the test. The options change the zero kubecascade.Options, which
// are the default. Warnings and errors go to the log of the test, unless Options.Log is set.
func New(t testing.TB, options ...func(*kubecascade.Options)) *kubecascade.Server {
	t.Helper()
	l := newLog(t)
	t.Cleanup(l.detach) // runs after the server was stopped
	o := kubecascade.Options{Log: slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	for _, change := range options {
		change(&o)
	}
	s, err := kubecascade.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\nThe end of the server's log:\n%s", err, l.tail())
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stopping the server: %v", err)
		}
	})
	return s
}
