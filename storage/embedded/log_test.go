package embedded

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// TestOnlyWarningsAndErrorsAreLogged: warnings and errors of etcd are logged for debugging, and no other messages; the
// logging of a fatal message does not return.
func TestOnlyWarningsAndErrorsAreLogged(t *testing.T) {
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	lg := newLog(slog.New(handler), zapcore.WriteThenPanic).With(zap.String("member", "m"))
	lg.Info("nothing")
	lg.Warn("slow", zap.Int("ms", 3), zap.Strings("keys", []string{"a", "b"}))
	lg.Error("bad", zap.Error(errors.New("cause")))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Fatal returned")
			}
		}()
		lg.Fatal("over")
	}()
	want := `level=DEBUG msg="etcd: slow" member=m ms=3 keys="[a b]"
level=DEBUG msg="etcd: bad" member=m error=cause
level=DEBUG msg="etcd: over" member=m
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
