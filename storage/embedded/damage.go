package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// errPanicked reports that etcd has panicked while it opened a directory.
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
		return nil // etcd's own error has the reason why it can't read the file
	case !there && len(segments) > 0 && restored(member):
		return damagedf("%s, etcd's database, is missing or empty, and the log doesn't reach back to its beginning", path)
	case there && len(segments) == 0:
		return damagedf("%s, etcd's log, is missing, and %s can't be used without it", filepath.Join(member, "wal"), path)
	case there:
		return whole(path, info.Size())
	}
	return nil
}

// whole returns an error if a database file is shorter than its content. etcd maps the file into memory, and would
// crash when it reads beyond the end.
func whole(path string, size int64) (err error) {
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return named(fmt.Errorf("%s, etcd's database: %w", path, err))
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > size {
			return damagedf("%s, etcd's database: it has %d bytes of %d", path, size, tx.Size())
		}
		return nil
	})
}

// patience is the time that a start may take after etcd has opened its files, before stuck searches for a reason.
const patience = 3 * time.Second

// stuck returns the reason why etcd will never be ready, or only after as many writes as its log has lost; nil if it
// finds no reason.
func stuck(s *etcdserver.EtcdServer) error {
	if len(s.Cluster().Members()) == 0 {
		return damagedf("etcd's log names no member: its beginning is lost")
	}
	// etcd would skip the next writes as already applied (etcd server/etcdserver/server.go: applyEntryNormal), and wait
	// for its own first write.
	applied, _ := schema.ReadConsistentIndex(s.Backend().ReadTx())
	if committed := s.CommittedIndex(); applied > committed {
		return damagedf("etcd's log ends before entry %d, but its database holds what entry %d has written: "+
			"the end of the log is lost, perhaps with acknowledged writes", committed, applied)
	}
	return nil
}
