package server

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/embedded"
)

// directory is the data directory.
type directory struct {
	path      string
	temporary bool
	// release unlocks it, or removes a temporary one.
	release func()
}

// openDirectory creates and locks the data directory.
func (c *Config) openDirectory() (d directory, err error) {
	if c.Dir == "" {
		d.temporary = true
		d.path, d.release, err = embedded.Temporary("")
		return d, err
	}
	if d.path, err = filepath.Abs(c.Dir); err != nil {
		return d, fmt.Errorf("resolving --data-dir: %w", err)
	}
	lock, err := embedded.LockDir(d.path)
	switch {
	case errors.Is(err, storage.ErrInUse):
		return d, fmt.Errorf("--data-dir %s is used by another process", d.path)
	case err != nil:
		return d, fmt.Errorf("opening --data-dir: %w", err)
	}
	d.release = func() { _ = lock.Close() } // the file has no content to lose
	return d, nil
}
