package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/snap"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// etcd expects a log whose last record was cut off by a crash: it drops the record, which was never acknowledged, and
// continues. The following is damage that etcd doesn't expect. etcd returns errors of many kinds, ends the process with
// a stack trace, or waits forever; here it becomes ErrDamaged.

// damagedf returns an ErrDamaged with a reason.
func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

// named turns etcd's errors about files that it can't understand into ErrDamaged. Errors of the operating system, such
// as a missing permission, are not damage.
func named(err error) error {
	for _, e := range []error{
		wal.ErrMetadataConflict, wal.ErrFileNotFound, wal.ErrCRCMismatch, wal.ErrSnapshotMismatch, wal.ErrSnapshotNotFound,
		wal.ErrSliceOutOfRange, io.ErrUnexpectedEOF, snap.ErrNoDBSnapshot, snap.ErrNoSnapshot, snap.ErrEmptySnapshot,
		snap.ErrCRCMismatch, berrors.ErrInvalid, berrors.ErrVersionMismatch, berrors.ErrChecksum, errPanicked,
	} {
		if err != nil && strings.Contains(err.Error(), e.Error()) { // etcd keeps only the messages of some
			return damagedf("%w", err)
		}
	}
	return err
}

// errPanicked says that etcd has panicked while it opened a directory.
var errPanicked = errors.New("etcd panicked")

// inspect checks the files below member before etcd opens them.
func inspect(member string) error {
	segments, err := fs.Glob(os.DirFS(member), "wal/*.wal")
	if err != nil {
		return err
	}
	for _, name := range segments {
		if info, err := os.Stat(filepath.Join(member, name)); err == nil && info.Size() == 0 {
			return damagedf("%s, a part of etcd's log, is empty", filepath.Join(member, name))
		}
	}
	path := filepath.Join(member, "snap", "db")
	info, err := os.Stat(path)
	there := err == nil && info.Mode().IsRegular() && info.Size() > 0
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil // etcd's own error says why it can't read the file
	case !there && len(segments) > 0 && restored(member):
		return damagedf("%s, etcd's database, is missing or empty, and the log doesn't reach back to its beginning", path)
	case there && len(segments) == 0:
		return damagedf("%s, etcd's log, is missing, and %s can't be used without it", filepath.Join(member, "wal"), path)
	case there:
		return walk(path)
	}
	return nil
}

// walk reads all of a database that is in use. bbolt does so as well when etcd opens it, but panics over invalid pages
// in a goroutine of its own.
func walk(path string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the file may be shorter than its pages say
	defer func() {
		if r := recover(); r != nil {
			err = damagedf("%s, etcd's database: %v", path, r)
		}
	}()
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return named(fmt.Errorf("%s, etcd's database: %w", path, err))
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(_, _ []byte) error { return nil })
		})
	})
}

// watchdog detects that etcd will never be ready, or only after as many writes as its log has lost.
type watchdog struct {
	// ahead counts the checks in a row that found the database ahead of the log.
	ahead  int
	server *etcdserver.EtcdServer
	// leads is closed when a leader has been elected and has written to the log.
	leads chan struct{}
	// idle counts the checks in a row that found no member to elect.
	idle int
}

// newWatchdog watches until ctx is done.
func newWatchdog(ctx context.Context, s *etcdserver.EtcdServer) *watchdog {
	w := &watchdog{server: s, leads: make(chan struct{})}
	go func() {
		for ctx.Err() == nil {
			if s.LinearizableReadNotify(ctx) == nil {
				close(w.leads)
				return
			}
		}
	}()
	return w
}

// patience is how many checks in a row must find no member: a start applies the entries of the members first.
const patience = 20

// check is called every electionMs. If the end of the log is lost, the log is shorter than what the database has
// applied. etcd would skip the next writes as already applied (etcd server/etcdserver/server.go: applyEntryNormal), and
// wait for its own first write.
func (w *watchdog) check() error {
	if len(w.server.Cluster().Members()) > 0 || w.server.AppliedIndex() < w.server.CommittedIndex() {
		w.idle = 0
	} else if w.idle++; w.idle > patience {
		return damagedf("etcd's log names no member: its beginning is lost")
	}
	select {
	case <-w.leads:
	default:
		return nil
	}
	applied, _ := schema.ReadConsistentIndex(w.server.Backend().ReadTx()) // before committed, as both grow
	committed := w.server.CommittedIndex()
	if applied <= committed {
		w.ahead = 0
	} else if w.ahead++; w.ahead > 1 { // in one check, the log may still be catching up
		return damagedf("etcd's log ends before entry %d, but its database holds what entry %d has written: "+
			"the end of the log is lost, perhaps with acknowledged writes", committed, applied)
	}
	return nil
}
