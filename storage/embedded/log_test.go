package embedded

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestLog(t *testing.T) {
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	var quiet atomic.Bool
	lg := newLog(slog.New(handler), &quiet, zapcore.WriteThenPanic).With(zap.String("member", "m"))
	lg.Info("nothing")
	lg.Warn("slow", zap.Int("ms", 3), zap.Strings("keys", []string{"a", "b"}))
	lg.Error("bad", zap.Error(errors.New("cause")))
	lg.Error("failed to apply request")
	lg.Error(
		"failed to update storage version",
		zap.Error(errors.New("cannot detect storage schema version: missing term information")),
	)
	lg.Error("failed to update storage version", zap.Error(errors.New("cannot create migration plan")))
	lg.Warn("failed to lock file", zap.String("path", "0.wal"), zap.Error(fileutil.ErrLocked))
	lg.Warn("failed to lock file", zap.String("path", "0.wal"), zap.Error(os.ErrPermission))
	quiet.Store(true)
	lg.Warn("stopping")
	lg.Error("worse")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Fatal returned")
			}
		}()
		lg.Fatal("over")
	}()
	want := `level=WARN msg="etcd: slow" member=m ms=3 keys="[a b]"
level=ERROR msg="etcd: bad" member=m error=cause
level=ERROR msg="etcd: failed to update storage version" member=m error="cannot create migration plan"
level=WARN msg="etcd: failed to lock file" member=m path=0.wal error="permission denied"
level=ERROR msg="etcd: over" member=m
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
