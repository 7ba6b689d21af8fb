//go:build !windows

package assets

import "os"

const extension = ""

// ensureLink makes path a symbolic link to target.
func ensureLink(path, target string) error {
	if have, err := os.Readlink(path); err == nil && have == target {
		return nil
	}
	return swap(path, func(tmp string) error { return os.Symlink(target, tmp) })
}
