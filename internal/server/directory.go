package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/embedded"
)

type directory struct {
	path      string
	temporary bool
	// release unlocks the directory, or removes it if it is temporary.
	release func()
}

// openDirectory creates and locks the data directory. It rejects a data directory of etcd, and does not change it.
func (c *Config) openDirectory() (d directory, err error) {
	if c.Dir == "" {
		d.temporary = true
		d.path, d.release, err = embedded.Temporary("")
		return d, err
	}
	if d.path, err = filepath.Abs(c.Dir); err != nil {
		return d, fmt.Errorf("resolving --data-dir: %w", err)
	}
	if _, err := os.Stat(filepath.Join(d.path, "member")); err == nil {
		return d, fmt.Errorf("--data-dir %s is a data directory of etcd: move it to the name etcd in an empty directory, "+
			"and choose that", d.path)
	}
	lock, err := embedded.LockDir(d.path)
	switch {
	case errors.Is(err, storage.ErrInUse):
		return d, fmt.Errorf("--data-dir %s is used by another process", d.path)
	case err != nil:
		return d, fmt.Errorf("opening --data-dir: %w", err)
	}
	d.release = func() { _ = lock.Close() } // the file has no content to lose
	if err := removeUnsaved(d.path); err != nil {
		d.release()
		return d, fmt.Errorf("opening --data-dir: %w", err)
	}
	return d, nil
}

// checkKubeconfig rejects a kubeconfig in a directory that doesn't exist, before anything is created: only the data
// directory is created, so that a wrong path leaves no directories.
func (c *Config) checkKubeconfig() error {
	if c.Kubeconfig == "" {
		return nil
	}
	dir, err := filepath.Abs(filepath.Dir(c.Kubeconfig))
	if err != nil {
		return fmt.Errorf("resolving --kubeconfig-out: %w", err)
	}
	if data, err := filepath.Abs(c.Dir); err == nil && c.Dir != "" && dir == data {
		return nil
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("--kubeconfig-out %s: directory: %w", c.Kubeconfig, err)
	case !info.IsDir():
		return fmt.Errorf("--kubeconfig-out %s: %s is not a directory", c.Kubeconfig, dir)
	}
	return nil
}
