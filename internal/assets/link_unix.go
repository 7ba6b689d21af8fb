//go:build !windows

package assets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const extension = ""

// ensureLink makes path a symbolic link to target.
func ensureLink(path, target string) error {
	if have, err := os.Readlink(path); err == nil && have == target {
		return nil
	}
	return swap(path, func(tmp string) error { return os.Symlink(target, tmp) })
}

// replaceable reports whether nothing is lost if path becomes a link.
func replaceable(path string) bool {
	info, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink != 0
}

// targetIn returns the target of a link in dir to the program. If the program is in dir, too, it is a relative path, so
// that both can be moved together.
func targetIn(dir, program string) string {
	if filepath.Dir(program) == dir {
		return filepath.Base(program)
	}
	return program
}
