package embedded

import (
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
)

var full = &fs.PathError{Op: "write", Path: "db", Err: fullErrors[0]}

func TestBreakdownNamesDirectoryAndCause(t *testing.T) {
	b := newBreakdown("/data", nil)
	for _, c := range []struct {
		fields []zap.Field
		full   bool
		text   string
	}{
		{
			[]zap.Field{zap.Int("n", 1), zap.Error(full)}, true,
			"the disk of /data is full: etcd: failed: write db: " + fullErrors[0].Error(),
		},
		{
			[]zap.Field{zap.Error(errors.New("file resize error: truncate db: " + fullErrors[0].Error()))}, true,
			"the disk of /data is full",
		},
		{[]zap.Field{zap.Error(syscall.EIO)}, false, "etcd in /data stopped: failed: " + syscall.EIO.Error()},
		{nil, false, "etcd in /data stopped: failed"},
	} {
		err := b.describe("failed", c.fields)
		if errors.Is(err, ErrNoSpace) != c.full || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v", c.fields, err)
		}
	}
}

// TestBreakdownClosing breaks down while Stop waits for etcd: Stop returns the error.
func TestBreakdownClosing(t *testing.T) {
	s, err := Start(t.Context(), Config{
		Ephemeral: true, DataDir: t.TempDir(), QuotaBytes: 1 << 30, Logger: slog.New(slog.DiscardHandler),
		Fatal: func(err error) { t.Errorf("Fatal was called: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	// etcd can't end, as its last write to its file is held up.
	tx := s.server.Backend().BatchTx()
	tx.LockOutsideApply()
	go func() {
		for s.broken.serving.Load() {
			time.Sleep(time.Millisecond)
		}
		s.server.Logger().Fatal("failed to commit tx", zap.Error(full))
	}()
	if err := s.Stop(); !errors.Is(err, ErrNoSpace) {
		t.Errorf("closing: %v", err)
	}
}
