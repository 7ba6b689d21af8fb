package storage

import (
	"errors"
	"io/fs"
	"log/slog"
	"syscall"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.uber.org/zap"
)

var full = &fs.PathError{Op: "write", Path: "db", Err: syscall.ENOSPC}

// TestFatalCallsOfEtcdNeverReturn: the goroutine does not continue, and Config.Fatal gets the error.
func TestFatalCallsOfEtcdNeverReturn(t *testing.T) {
	told := make(chan error, 2)
	e, err := Open(t.Context(), Config{
		Ephemeral: true, DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { told <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	goneOn := make(chan struct{})
	for _, log := range []func(string, ...zap.Field){e.local.Etcd().Logger().Fatal, e.local.Etcd().Logger().Panic} {
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

// TestAlarmEndsWhenDirectoryIsOpened opens a directory in which another program's quota has raised the alarm.
func TestAlarmEndsWhenDirectoryIsOpened(t *testing.T) {
	c := Config{DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	e, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	raise := &pb.AlarmRequest{
		Action: pb.AlarmRequest_ACTIVATE, MemberID: uint64(e.local.Etcd().MemberID()), Alarm: pb.AlarmType_NOSPACE,
	}
	if _, err := e.local.Etcd().Alarm(t.Context(), raise); err != nil {
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
