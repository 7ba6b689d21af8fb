package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// controllersFile is the file in the directory with the words of --controllers, separated by commas.
const controllersFile = "kubecascade-controllers"

// Options describe the directory.
type Options struct {
	// Dir is the directory; default: one in the user's cache directory.
	Dir string
	// Program is the path of this program, and Version its version.
	Program, Version string
	// Copy reports whether the program is removed when it ends, so that the directory needs a copy of it.
	Copy bool
	// Kubectl is the path of kubectl; empty for none. It may be the link in a directory that Ensure has made.
	Kubectl string
	// Controllers are the words of --controllers for kube-apiserver in this directory.
	Controllers []string
}

// Ensure makes or refreshes the directory, and returns its absolute path. It does not replace programs that it has not
// made: for kube-apiserver or etcd the error is ErrTaken, and a kubectl is used as it is.
func Ensure(o Options) (dir string, err error) {
	if dir, err = o.path(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("creating the directory: %w", err)
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		if path := filepath.Join(dir, name+extension); !replaceable(path) {
			return "", fmt.Errorf("%s: %w", path, ErrTaken)
		}
	}
	if err := replace(filepath.Join(dir, controllersFile), strings.Join(o.Controllers, ",")); err != nil {
		return "", err
	}
	if o.Copy {
		if o.Program, err = ensureCopy(dir, o.Program); err != nil {
			return "", err
		}
	}
	if o.Kubectl, err = ofLink(o.Kubectl); err != nil {
		return "", err
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		if err := ensureLink(filepath.Join(dir, name+extension), o.Program); err != nil {
			return "", err
		}
	}
	return dir, ensureKubectl(filepath.Join(dir, "kubectl"+extension), o.Kubectl)
}

// ensureKubectl makes path a link to kubectl. If kubectl is empty, it removes an existing link.
func ensureKubectl(path, kubectl string) error {
	if !replaceable(path) {
		return nil
	}
	if kubectl != "" {
		return ensureLink(path, kubectl)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// path returns the absolute path of the directory.
func (o *Options) path() (string, error) {
	if o.Dir != "" {
		return filepath.Abs(o.Dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache directory: %w", err)
	}
	program := o.Program
	if o.Copy { // its path differs each time
		if program, err = digest(o.Program); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{o.Version, program}, o.Controllers...), "\x00")))
	return filepath.Join(cache, "kubecascade", "envtest-"+hex.EncodeToString(sum[:8])), nil
}

// ensureCopy copies the program into the directory, unless it is there, and returns the path of the copy.
func ensureCopy(dir, program string) (string, error) {
	path := filepath.Join(dir, "kubecascade"+extension)
	want, err := digest(program)
	if err != nil {
		return "", err
	}
	if have, err := digest(path); err == nil && have == want {
		return path, nil
	}
	return path, swap(path, func(tmp string) error { return copyFile(tmp, program) })
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// ofLink returns the target of a kubectl that is a link in a directory of binaries. If such a directory is in PATH,
// kubectl may be the link that Ensure replaces, and a link must not lead to itself. Any other kubectl is returned as it
// is, because links of package managers stay valid when their targets are replaced.
func ofLink(kubectl string) (string, error) {
	if kubectl == "" {
		return "", nil
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(kubectl), controllersFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return kubectl, nil
	case err != nil:
		return "", err
	}
	return filepath.EvalSymlinks(kubectl)
}

// replace writes a small file atomically, unless it has the content.
func replace(path, content string) error {
	if have, err := os.ReadFile(path); err == nil && string(have) == content {
		return nil
	}
	return swap(path, func(tmp string) error { return os.WriteFile(tmp, []byte(content), 0o644) })
}

// swap replaces path with the file that create writes at a temporary path.
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
