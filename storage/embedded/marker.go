package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// etcd can't start again if it was killed before it had saved the first entry of a new log. So a new data directory has
// a marker file until etcd is ready. While the marker exists, nothing can have been acknowledged, and the next start
// deletes the data and begins again.
const (
	// markerName is the marker; memberDir is etcd's directory beside it.
	markerName, memberDir = "first-start", "member"
	// markerText explains the file to an operator.
	markerText = "etcd has not finished its first start here. If this file is still there at the next start, member/ is removed.\n"
)

// beginFirst creates the marker if etcd has never been ready in dir, and reports whether that is so. Then endFirst must
// be called when etcd is ready. The data of an interrupted first start is removed.
func beginFirst(dir string, log *slog.Logger) (first bool, err error) {
	marked, err := exists(filepath.Join(dir, markerName))
	if err != nil {
		return false, fmt.Errorf("looking for an interrupted first start: %w", err)
	}
	member := filepath.Join(dir, memberDir)
	made, err := exists(member)
	if err != nil {
		return false, fmt.Errorf("looking for data of etcd: %w", err)
	}
	if made && !marked {
		return false, nil
	}
	// The marker is written again if it exists: the process that wrote it may have been killed in the meantime.
	if err := mark(dir); err != nil {
		return false, fmt.Errorf("marking the first start: %w", err)
	}
	if made && !restored(member) {
		log.Warn("the first start was interrupted; removing its data and starting again", "removing", member)
		if err := os.RemoveAll(member); err != nil {
			return false, fmt.Errorf("removing what an interrupted first start has left: %w", err)
		}
	}
	return true, nil
}

// endFirst removes the marker. No write may be acknowledged before.
func endFirst(dir string) error {
	err := os.Remove(filepath.Join(dir, markerName))
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("ending the first start: %w", err)
	}
	return nil
}

// restored reports whether an operator has restored a snapshot over an interrupted first start: then member has a
// snapshot file. A restore writes one; a first start writes none before it has ended.
func restored(member string) bool {
	files, _ := fs.Glob(os.DirFS(member), "snap/*.snap") // only a bad pattern is an error
	return len(files) > 0
}

// exists reports whether a name exists, even if it is a broken link.
func exists(name string) (bool, error) {
	_, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// mark writes the marker and waits until it is on disk.
func mark(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, markerName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(markerText)
	if err = errors.Join(err, fileutil.Fsync(f), f.Close()); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir waits until the names in a directory are on disk.
func syncDir(name string) error {
	d, err := fileutil.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(fileutil.Fsync(d), d.Close())
}
