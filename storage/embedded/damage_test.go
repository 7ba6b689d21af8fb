package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/embedded"
)

// damagedWrites are enough for a snapshot.
const damagedWrites = 2600

// written makes a data directory with damagedWrites records, and returns it.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	e, err := storage.Open(t.Context(), storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var writers errgroup.Group
	writers.SetLimit(64)
	for i := range damagedWrites {
		writers.Go(func() error {
			_, err := e.Commit(
				t.Context(), storage.Txn{Key: fmt.Sprint(markedKey, i), Value: bytes.Repeat([]byte("x"), 300)})
			return err
		})
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// member is etcd's part of a data directory, with methods that damage it.
type member struct {
	t   *testing.T
	dir string
}

// log returns the only segment of the log; snapshot the only snapshot.
func (m member) log() string      { return m.one("wal/*.wal") }
func (m member) snapshot() string { return m.one("snap/*.snap") }
func (m member) database() string { return filepath.Join(m.dir, "snap", "db") }

func (m member) one(pattern string) string {
	names, err := filepath.Glob(filepath.Join(m.dir, pattern))
	if err != nil || len(names) != 1 {
		m.t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names[0]
}

func (m member) check(err error) {
	if err != nil {
		m.t.Fatal(err)
	}
}

// edit changes what is in a file, without the zeros at its end.
func (m member) edit(name string, change func(data []byte) []byte) {
	data, err := os.ReadFile(name)
	m.check(err)
	m.check(os.WriteFile(name, change(bytes.TrimRight(data, "\x00")), 0o600))
}

// cut leaves the first n bytes of a file; negative n are counted from the end of the data.
func (m member) cut(name string, n int) {
	m.edit(name, func(data []byte) []byte {
		if n < 0 {
			n += len(data)
		}
		return data[:n]
	})
}

// garble overwrites part of a file.
func (m member) garble(name string, at func(size int) int, n int) {
	m.edit(name, func(data []byte) []byte {
		copy(data[at(len(data)):], bytes.Repeat([]byte{0xa5}, n))
		return data
	})
}

// TestDamagedDirectoryIsAnError: a start with a damaged directory ends at once and states what is wrong, unless etcd
// repairs it.
func TestDamagedDirectoryIsAnError(t *testing.T) {
	whole := written(t)
	for name, c := range map[string]struct {
		happens func(m member)
		// says is a part of the error; it is empty if the directory can be opened, with at least the number of records.
		says string
		left int
	}{
		"nothing":  {func(member) {}, "", damagedWrites},
		"log torn": {func(m member) { m.cut(m.log(), -3) }, "", damagedWrites - 1},
		"log cut": {func(m member) {
			m.edit(m.log(), func(d []byte) []byte { return d[:len(d)/2] })
		}, "the end of the log is lost", 0},
		"log all but cut": {func(m member) { m.cut(m.log(), 100) }, "is lost", 0},
		"log empty":       {func(m member) { m.cut(m.log(), 0) }, "a part of etcd's log, is empty", 0},
		"log gone":        {func(m member) { m.check(os.Remove(m.log())) }, "etcd's log, is missing", 0},
		"log's directory gone": {func(m member) {
			m.check(os.RemoveAll(filepath.Join(m.dir, "wal")))
		}, "etcd's log, is missing", 0},
		"log's beginning": {func(m member) {
			m.check(os.Rename(m.log(), filepath.Join(m.dir, "wal", "0000000000000001-0000000000000f00.wal")))
		}, "file not found", 0},
		"log garbled": {func(m member) { // within a value
			m.edit(m.log(), func(d []byte) []byte {
				value := bytes.Repeat([]byte("x"), 128)
				d[len(d)/2+bytes.Index(d[len(d)/2:], value)] = 'y'
				return d
			})
		}, "crc mismatch", 0},
		"snapshot gone":  {func(m member) { m.check(os.Remove(m.snapshot())) }, "", damagedWrites},
		"snapshot cut":   {func(m member) { m.cut(m.snapshot(), 100) }, "", damagedWrites},
		"snapshot empty": {func(m member) { m.cut(m.snapshot(), 0) }, "", damagedWrites},
		"database gone": {func(m member) {
			m.check(os.Remove(m.database()))
		}, "etcd's database, is missing or empty", 0},
		"database empty": {func(m member) { m.cut(m.database(), 0) }, "etcd's database, is missing or empty", 0},
		"database a directory": {func(m member) {
			m.check(errors.Join(os.Remove(m.database()), os.Mkdir(m.database(), 0o700)))
		}, "etcd's database, is missing or empty", 0},
		"database cut": {func(m member) { m.cut(m.database(), 4*os.Getpagesize()) }, "etcd's database: ", 0},
		"database all zeros": {func(m member) {
			m.edit(m.database(), func(d []byte) []byte { return make([]byte, len(d)) })
		}, "invalid database", 0},
		"database's head": {func(m member) {
			m.garble(m.database(), func(int) int { return 0 }, 2*os.Getpagesize())
		}, "invalid database", 0},
		"database without it": {func(m member) {
			m.check(errors.Join(os.Remove(m.database()), os.Remove(m.snapshot())))
		}, "snapshot file doesn't exist", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := abandonedDir(t)
			copySparse(t, whole, dir)
			c.happens(member{t, filepath.Join(dir, embedded.MemberDir)})
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			var log bytes.Buffer
			e, err := storage.Open(ctx, storage.Config{
				DataDir: dir, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
			})
			if err != nil {
				if c.says == "" || !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("opening: %v, want %q", err, c.says)
				}
				return
			}
			n := 0
			for i := range damagedWrites {
				switch _, err := e.Get(ctx, fmt.Sprint(markedKey, i)); {
				case err == nil:
					n++
				case !errors.Is(err, storage.ErrNotFound):
					t.Fatal(err)
				}
			}
			if c.says != "" || n < c.left {
				t.Errorf("opened with %d records, want at least %d and %q", n, c.left, c.says)
			}
			_, err = e.Commit(ctx, storage.Txn{Key: markedKey + "again", Value: []byte("x")})
			if err := errors.Join(err, e.Close()); err != nil {
				t.Error(err)
			}
			if log.Len() > 0 {
				t.Errorf("logged: %s", &log)
			}
		})
	}
}

// copySparse copies a directory; etcd's files are mostly empty.
func copySparse(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		err = os.WriteFile(filepath.Join(to, rel), bytes.TrimRight(data, "\x00"), 0o600)
		return errors.Join(err, os.Truncate(filepath.Join(to, rel), int64(len(data))))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLogWithoutMemberIsAnError: a log without its first entry has no member that could become the leader.
func TestLogWithoutMemberIsAnError(t *testing.T) {
	dir := abandonedDir(t)
	emptyLog(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	e, err := storage.Open(ctx, storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		e.Close()
	}
	if !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("opening: %v", err)
	}
}
