package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/internal/cluster"
)

// ErrNoSnapshots reports that the server doesn't send snapshots.
var ErrNoSnapshots = errors.New("the server sends no snapshots of its store; only kubecascade does. " +
	"For other servers use etcdctl snapshot save")

// Save saves a snapshot of a server to a file, and prints a summary of its content. When the snapshot is complete, it
// replaces a file of that name, but nothing else, such as a device or a pipe.
func Save(ctx context.Context, from *cluster.Client, file string, out io.Writer) error {
	switch info, err := os.Stat(file); {
	case err != nil || info.Mode().IsRegular():
	case info.IsDir():
		return fmt.Errorf("%s: it is a directory; name a file", file)
	default:
		return fmt.Errorf("%s: it is not a regular file; - is standard output", file)
	}
	dir := filepath.Dir(file)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%s: the directory of the file: %w", file, err)
	}
	f, err := os.CreateTemp(dir, filepath.Base(file)+"-*.part")
	if err != nil {
		return err
	}
	var r *Report
	if err = errors.Join(receive(ctx, from, f), f.Sync(), f.Close()); err == nil {
		r, err = Inspect(ctx, f.Name(), Options{})
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	_, err = fmt.Fprintf(out, "saved %d objects at revision %d, %d bytes\n", r.Objects, r.Revision, r.Bytes)
	return err
}

// receive writes the snapshot that the server sends.
func receive(ctx context.Context, from *cluster.Client, w io.Writer) error {
	req, err := from.Own(ctx, http.MethodPost, "snapshots", nil)
	if err != nil {
		return err
	}
	body, err := from.Open(req)
	if apierrors.IsNotFound(err) {
		return ErrNoSnapshots
	} else if err != nil {
		return err
	}
	defer body.Close()
	n, err := io.Copy(w, body)
	if err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	return nil
}

// Send is Save to a stream; the summary goes to log. The snapshot is first written to a temporary file, so that the
// stream gets only a complete one. Where the system can remove open files, the file is removed before the stream is
// written: if the reader of the stream is gone, SIGPIPE ends the process, and Secrets must not stay on the disk.
func Send(ctx context.Context, from *cluster.Client, to, log io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "kubecascade-snapshot-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "snapshot.db")
	if err := Save(ctx, from, file, log); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_ = os.RemoveAll(dir) // or at the end
	_, err = io.Copy(to, f)
	return errors.Join(err, f.Close())
}
