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

// A log whose last record was cut off by a crash is what etcd expects: it drops the record, which was
// never acknowledged, and goes on. What follows is damage that etcd doesn't expect. It says so in its own words, ends the
// process with a stack trace, or waits without end; here it becomes ErrDamaged.

// damagedf is an ErrDamaged that says what is wrong.
func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

// named marks as ErrDamaged what etcd says of files that it can't make sense of. What the system says of
// them, such as that they may not be read, is no damage.
func named(err error) error {
	for _, e := range []error{
		wal.ErrMetadataConflict, wal.ErrFileNotFound, wal.ErrCRCMismatch, wal.ErrSnapshotMismatch, wal.ErrSnapshotNotFound,
		wal.ErrSliceOutOfRange, io.ErrUnexpectedEOF, snap.ErrNoDBSnapshot, snap.ErrNoSnapshot, snap.ErrEmptySnapshot,
		snap.ErrCRCMismatch, berrors.ErrInvalid, berrors.ErrVersionMismatch, berrors.ErrChecksum, errPanicked,
	} {
		if err != nil && strings.Contains(err.Error(), e.Error()) { // etcd keeps only the words of some
			return damagedf("%w", err)
		}
	}
	return err
}

// errPanicked says that etcd has panicked over a directory.
var errPanicked = errors.New("etcd panicked")

// inspect looks at the files below member before etcd does.
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
		return nil // etcd says why it can't read it
	case !there && len(segments) > 0 && restored(member):
		return damagedf("%s, etcd's database, is missing or empty, and the log doesn't reach back to its beginning", path)
	case there && len(segments) == 0:
		return damagedf("%s, etcd's log, is missing, and %s can't be used without it", filepath.Join(member, "wal"), path)
	case there:
		return walk(path)
	}
	return nil
}

// walk reads what is in use of a database. bbolt does so too when etcd opens it, but panics in a goroutine of its
// own over pages that aren't what they should be.
func walk(path string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the file may be shorter than what it tells of
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

// watchdog finds out that etcd will never be ready, or not before as many writes as its log has lost.
type watchdog struct {
	// ahead counts the checks in a row that found the database ahead of the log.
	ahead  int
	server *etcdserver.EtcdServer
	// leads is closed when a leader has been elected and has written to the log.
	leads chan struct{}
	// idle counts how often in a row check found no member to elect.
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

// patience is how many checks in a row must find no member: what a start applies first is the members.
const patience = 20

// check is called every electionMs. A log of which the end is lost is shorter than what the database has taken
// from it; what is written next would be skipped as if it were there already (etcd server/etcdserver/server.go:
// applyEntryNormal), and etcd would wait for its own first write.
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
	applied, _ := schema.ReadConsistentIndex(w.server.Backend().ReadTx()) // first, as both grow
	committed := w.server.CommittedIndex()
	if applied <= committed {
		w.ahead = 0
	} else if w.ahead++; w.ahead > 1 { // once, the log may still be on its way to what it says itself is committed
		return damagedf("etcd's log ends before entry %d, but its database holds what entry %d has written: "+
			"the end of the log is lost, perhaps with acknowledged writes", committed, applied)
	}
	return nil
}
