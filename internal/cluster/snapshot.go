package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

// ErrNoSnapshots says that the server doesn't send snapshots. Test with errors.Is.
var ErrNoSnapshots = errors.New("the server sends no snapshots of its store; only kubecascade does. " +
	"For other servers use etcdctl snapshot save")

// SaveSnapshot writes a snapshot of the server's store to a file, after check accepts it. The file replaces one of that
// name when it is whole. Nothing else is replaced, such as a device or a pipe.
func (c *Client) SaveSnapshot(ctx context.Context, path string, check func(part string) error) (err error) {
	switch info, err := os.Stat(path); {
	case err != nil || info.Mode().IsRegular():
	case info.IsDir():
		return fmt.Errorf("%s: it is a directory; name a file", path)
	default:
		return fmt.Errorf("%s: it is not a regular file; - is standard output", path)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%s: the directory of the file: %w", path, err)
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+"-*.part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(c.snapshot(ctx, f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := check(f.Name()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// snapshot writes what the server sends.
func (c *Client) snapshot(ctx context.Context, w io.Writer) error {
	const path = render.RoutePrefix + "snapshots"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, nil)
	if err != nil {
		return err
	}
	client := *c.HTTP
	client.Timeout = 0 // it ends with ctx
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		if res.StatusCode == http.StatusNotFound {
			return ErrNoSnapshots
		}
		body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		return errors.Join(asError(req, res, body), err)
	}
	n, err := io.Copy(w, res.Body)
	if err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	return nil
}
