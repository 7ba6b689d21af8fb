package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/coreos/go-semver/semver"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/api/v3/version"
)

// Info describes a file.
type Info struct {
	// Path is the file that was read; with a data directory, the database in it.
	Path string
	// Bytes is its size.
	Bytes int64
	// Hashed reports whether the file ends with a hash that matches, as snapshots of etcdctl do. The database of a data
	// directory has no hash; it lacks the writes that are only in the log beside it.
	Hashed bool
	// Version is the version of the format, such as 3.6.0; empty for etcd before 3.6.
	Version string
	// Revision is the newest revision. History before Compacted is gone.
	Revision, Compacted int64
}

// File is an open file, for one goroutine.
type File struct {
	Info
	file *os.File
	tree tree
	// lock keeps etcd from starting while its database is read; nil for snapshots.
	lock *bbolt.DB
	// newest has the place of each key's newest value; nil before the first scan.
	newest map[string]position
}

// hashSize is the size of the hash that follows the database in a snapshot (etcd
// server/etcdserver/api/v3rpc/maintenance.go: Snapshot).
const hashSize = sha256.Size

// Open opens a snapshot or a database of etcd. If path is a data directory, it opens the database in it. If the file
// has a hash, Open reads the whole file.
func Open(path string) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func open(path string) (_ *File, err error) {
	if path, err = databaseIn(path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	f := &File{Info: Info{Path: path}, file: file}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, cause(err)
	}
	f.Bytes = info.Size()
	if f.tree, f.Hashed, err = check(file, f.Bytes); err != nil {
		return nil, err
	}
	if !f.Hashed {
		if err := f.takeLock(); err != nil {
			return nil, err
		}
	}
	return f, f.readInfo()
}

// databaseIn returns the file for a path. For a data directory of etcd or of this program it is the database. Only
// directories and regular files are opened: opening a pipe would wait for its writer.
func databaseIn(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", cause(err)
	}
	if info.Mode().IsRegular() {
		return path, nil
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%w: it is not a regular file", ErrForeign)
	}
	for _, below := range []string{"member/snap/db", "etcd/member/snap/db"} {
		name := filepath.Join(path, filepath.FromSlash(below))
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: the directory has no member/snap/db", ErrForeign)
}

// cause removes the path from an error of the system, because Open adds it.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Close closes the file and releases its lock, so that an etcd can open it again.
func (f *File) Close() error {
	err := f.file.Close()
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// takeLock takes the lock that etcd has while it uses its database.
func (f *File) takeLock() (err error) {
	f.lock, err = bbolt.Open(f.Path, 0, &bbolt.Options{ReadOnly: true, Timeout: 50 * time.Millisecond})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%w: make a snapshot of that instead (etcdctl snapshot save)", ErrInUse)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// check checks what needs no lock: the kind of the file, whether it is complete, and its hash.
func check(r io.ReaderAt, size int64) (t tree, hashed bool, err error) {
	m, err := newestMeta(r)
	switch {
	case errors.Is(err, ErrForeign), size < headSize+metaSize:
		return t, false, foreign(r, size)
	case err != nil:
		return t, false, err
	}
	data := size
	switch size % 512 { // the size of a page is a multiple of 512 (etcdutl snapshot/v3_snapshot.go: copyAndVerifyDB)
	case 0:
	case hashSize:
		data, hashed = size-hashSize, true
	default:
		return t, false, fmt.Errorf("%w: it has %d bytes, which is neither whole pages nor whole pages and a hash",
			ErrTruncated, size)
	}
	if whole := data / m.pageSize; m.pages > uint64(whole) {
		return t, false, fmt.Errorf("%w: %d of its %d pages are missing", ErrTruncated, m.pages-uint64(whole), m.pages)
	}
	if hashed {
		if err := checkHash(r, data); err != nil {
			return t, false, err
		}
	}
	return tree{r: io.NewSectionReader(r, 0, data), meta: m}, hashed, nil
}

func checkHash(r io.ReaderAt, size int64) error {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size)); err != nil {
		return fmt.Errorf("computing the hash: %w", err)
	}
	var want [hashSize]byte
	if _, err := r.ReadAt(want[:], size); err != nil {
		return fmt.Errorf("reading the hash: %w", err)
	}
	if !bytes.Equal(h.Sum(nil), want[:]) {
		return ErrHash
	}
	return nil
}

// others has the first bytes of files that users mistake for snapshots.
var others = []struct{ head, is string }{
	{"\x1f\x8b", "it is compressed with gzip"},
	{"\x28\xb5\x2f\xfd", "it is compressed with zstd"},
	{"\xfd7zXZ\x00", "it is compressed with xz"},
	{"BZh", "it is compressed with bzip2"},
	{"PK\x03\x04", "it is a zip archive"},
	{"SQLite format 3\x00", "it is a database of SQLite, which k3s uses instead of etcd"},
	{"Salted__", "it is encrypted with openssl"},
	{"age-encryption.org/", "it is encrypted with age"},
}

// foreign returns an error that names the kind of a file that is no database of bbolt.
func foreign(r io.ReaderAt, size int64) error {
	head := make([]byte, min(size, headSize))
	if size == 0 {
		return fmt.Errorf("%w: it is empty", ErrTruncated)
	}
	if _, err := r.ReadAt(head, 0); err != nil {
		return fmt.Errorf("reading its beginning: %w", err)
	}
	for _, o := range others {
		if bytes.HasPrefix(head, []byte(o.head)) {
			return fmt.Errorf("%w: %s", ErrForeign, o.is)
		}
	}
	return fmt.Errorf("%w: it does not begin like one", ErrForeign)
}

// readInfo reads the revisions and the version.
func (f *File) readInfo() error {
	found, err := f.tree.bucket("meta", func(e entry) error {
		switch string(e.key) {
		case "finishedCompactRev":
			if len(e.value) >= 8 {
				f.Compacted = int64(binary.BigEndian.Uint64(e.value))
			}
		case "storageVersion":
			f.Version = string(e.value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: it is a database of another program (it has no bucket \"meta\")", ErrForeign)
	}
	if err := known(f.Version); err != nil {
		return err
	}
	found, err = f.tree.bucket("key", func(e entry) error {
		main, _, err := revision(e.key)
		f.Revision = max(f.Revision, main)
		return err
	})
	if err == nil && !found {
		return fmt.Errorf("%w: it is a database of another program (it has no bucket \"key\")", ErrForeign)
	}
	f.Revision = max(f.Revision, f.Compacted)
	return err
}

// known returns an error for a format that is newer than this program's etcd. Patch releases do not change the format.
func known(format string) error {
	if format == "" {
		return nil
	}
	v, err := semver.NewVersion(format)
	if err != nil {
		return fmt.Errorf("%w: its version is %q", ErrDamaged, format)
	}
	own := semver.Must(semver.NewVersion(version.Version))
	if v.Major > own.Major || v.Major == own.Major && v.Minor > own.Minor {
		return fmt.Errorf("%w: it is from etcd %d.%d, and this program knows the formats up to etcd %d.%d",
			ErrNewer, v.Major, v.Minor, own.Major, own.Minor)
	}
	return nil
}
