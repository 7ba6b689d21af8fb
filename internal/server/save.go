package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

// unsaved is the pattern of the names of the files to which snapshots are written.
const unsaved = "kubecascade-snapshot-*.part"

// removeUnsaved removes the files of snapshots that a killed server has left in its data directory, as they have all
// Secrets.
func removeUnsaved(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if is, _ := filepath.Match(unsaved, e.Name()); is && e.Type().IsRegular() {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// SaveSnapshot writes a snapshot to a file. When it is complete, it replaces a file of that name, but nothing else,
// such as a device or a directory.
func (s *Server) SaveSnapshot(ctx context.Context, path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("saving a snapshot: %s is no regular file", path)
	}
	f, err := s.data.save(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	err = errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("saving a snapshot: %w", err), os.Remove(f.Name()))
	}
	return err
}

// save writes a snapshot to a new file in a directory. The caller closes and removes it.
func (d *data) save(ctx context.Context, dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, unsaved)
	if err != nil {
		return nil, fmt.Errorf("saving a snapshot: %w", err)
	}
	if err := d.store.Save(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// saveRoute returns the route "snapshots". A POST returns a snapshot of the whole store. It is for users who may post
// to the path, as the snapshot has all Secrets. The snapshot is written to a file first, so that a client that reads
// slowly does not hold a transaction of the database open. Only one snapshot is made at a time.
func (s *Server) saveRoute() render.Route {
	saving := make(chan struct{}, 1)
	return render.Route{Path: "snapshots", Methods: []string{http.MethodPost}, Serve: func(
		w http.ResponseWriter, r *http.Request) {
		select {
		case saving <- struct{}{}:
			defer func() { <-saving }()
		default:
			render.Error(s.log, w, r, apierrors.NewTooManyRequests("a snapshot is being saved already", 1))
			return
		}
		f, err := s.data.save(r.Context(), s.data.dir.path)
		if err != nil {
			render.Error(s.log, w, r, err)
			return
		}
		defer func() {
			if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
				s.log.Warn("failed to remove the file of a snapshot", "err", err)
			}
		}()
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, f) // a client that disconnects gets less than the length
	}}
}
