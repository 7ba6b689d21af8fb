package storage

import (
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.uber.org/zap"
)

var full = &fs.PathError{Op: "write", Path: "db", Err: syscall.ENOSPC}

func TestDescribe(t *testing.T) {
	b := newBreakdown("/data", nil)
	for _, c := range []struct {
		fields []zap.Field
		full   bool
		text   string
	}{
		{[]zap.Field{zap.Int("n", 1), zap.Error(full)}, true, "the disk of /data is full: etcd: failed: write db: no space left on device"},
		{[]zap.Field{zap.Error(errors.New("file resize error: truncate db: no space left on device"))}, true, "the disk of /data is full"},
		{[]zap.Field{zap.Error(syscall.EIO)}, false, "etcd in /data can't go on: failed: input/output error"},
		{nil, false, "etcd in /data can't go on: failed"},
	} {
		err := b.describe("failed", c.fields)
		if errors.Is(err, ErrNoSpace) != c.full || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v", c.fields, err)
		}
	}
}

// TestBreakdown: what called fatal, here in the middle of etcd, never goes on, and who serves is told.
func TestBreakdown(t *testing.T) {
	told := make(chan error, 2)
	e, err := Open(t.Context(), Config{Ephemeral: true, DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	goneOn := make(chan struct{})
	for _, log := range []func(string, ...zap.Field){e.local.server.Logger().Fatal, e.local.server.Logger().Panic} {
		go func() {
			log("failed to commit tx", zap.Error(full))
			close(goneOn)
		}()
		if err := <-told; !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("told: %v", err)
		}
	}
	if err := e.Close(); !errors.Is(err, ErrNoSpace) {
		t.Errorf("closing: %v", err)
	}
	select {
	case <-goneOn:
		t.Error("Fatal returned")
	default:
	}
}

// TestBreakdownClosing breaks down while Close waits for etcd: Close returns it.
func TestBreakdownClosing(t *testing.T) {
	e, err := Open(t.Context(), Config{Ephemeral: true, DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Errorf("told: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	// etcd can't end, as its last write to its file is held up.
	tx := e.local.server.Backend().BatchTx()
	tx.LockOutsideApply()
	go func() {
		for e.local.broken.serving.Load() {
			time.Sleep(time.Millisecond)
		}
		e.local.server.Logger().Fatal("failed to commit tx", zap.Error(full))
	}()
	if err := e.Close(); !errors.Is(err, ErrNoSpace) {
		t.Errorf("closing: %v", err)
	}
}

// TestAlarm opens a directory in which another program's quota has raised the alarm.
func TestAlarm(t *testing.T) {
	c := Config{DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	e, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	raise := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: uint64(e.local.server.MemberID()), Alarm: pb.AlarmType_NOSPACE}
	if _, err := e.local.server.Alarm(t.Context(), raise); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Commit(t.Context(), Txn{Key: "/registry/a", Value: []byte("x")}); !errors.Is(err, ErrNoSpace) {
		t.Errorf("with the alarm: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Commit(t.Context(), Txn{Key: "/registry/a", Value: []byte("x")}); err != nil {
		t.Errorf("opened again: %v", err)
	}
}
