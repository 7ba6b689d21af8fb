package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// controllersFile is the file in the directory with the words of --controllers, separated by commas.
const controllersFile = "kubecascade-controllers"

// Options say what the directory has.
type Options struct {
	// Dir is the directory; default: one in the user's cache directory.
	Dir string
	// Program is the path of this program, and Version its version.
	Program, Version string
	// Kubectl is the path of kubectl; empty for none.
	Kubectl string
	// Controllers are the words of --controllers for kube-apiserver in this directory.
	Controllers []string
}

// Ensure makes or refreshes the directory, and returns its absolute path.
func Ensure(o Options) (dir string, err error) {
	if dir, err = o.path(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("creating the directory: %w", err)
	}
	if err := replace(filepath.Join(dir, controllersFile), strings.Join(o.Controllers, ",")); err != nil {
		return "", err
	}
	for name, target := range map[string]string{"kube-apiserver": o.Program, "etcd": o.Program, "kubectl": o.Kubectl} {
		path := filepath.Join(dir, name+extension)
		if target == "" {
			err = os.Remove(path)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		} else {
			err = ensureLink(path, target)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}

// path is the absolute path of the directory.
func (o *Options) path() (string, error) {
	if o.Dir != "" {
		return filepath.Abs(o.Dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache directory: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{o.Version, o.Program}, o.Controllers...), "\x00")))
	return filepath.Join(cache, "kubecascade", "envtest-"+hex.EncodeToString(sum[:8])), nil
}

// replace writes a small file atomically, unless it has the content.
func replace(path, content string) error {
	if have, err := os.ReadFile(path); err == nil && string(have) == content {
		return nil
	}
	return swap(path, func(tmp string) error { return os.WriteFile(tmp, []byte(content), 0o644) })
}

// swap replaces path with what make creates at another path.
func swap(path string, create func(tmp string) error) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer os.RemoveAll(dir)
	tmp := filepath.Join(dir, filepath.Base(path))
	if err := create(tmp); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(tmp, path)
}

// ControllersOf returns the words of --controllers for the program that was called as arg0, from the file beside it;
// nil if there is none.
func ControllersOf(arg0 string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(arg0), controllersFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return Words(string(data)), nil
}

// Words splits words that are separated by commas; no words are an empty slice, which disables all controllers.
func Words(s string) []string {
	words := []string{}
	for w := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		if w != "" {
			words = append(words, w)
		}
	}
	return words
}
