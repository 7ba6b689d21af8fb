package assets

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program returns the path of this program's file.
func Program() (string, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return program, nil
}

// Transient reports whether a program's path is where "go run" builds it, and removes it when it ends:
// go-build*/b001/exe in a temporary directory.
func Transient(program string) bool {
	exe := filepath.Dir(program)
	return filepath.Base(exe) == "exe" && strings.HasPrefix(filepath.Base(filepath.Dir(filepath.Dir(exe))), "go-build")
}

// ErrTransient is the error for a program that "go run" has built: a link to it would soon lead nowhere.
var ErrTransient = errors.New("go run removes this program when it ends: build or install it first")

// Called returns the path by which this program was called, or else that of its file. A link of a package manager stays
// valid when the file is replaced. The error of a Transient program is ErrTransient.
func Called() (string, error) {
	own, err := Program()
	if err != nil {
		return "", err
	}
	if Transient(own) {
		return "", ErrTransient
	}
	called, err := exec.LookPath(os.Args[0])
	if err == nil {
		called, err = filepath.Abs(called)
	}
	if err != nil || !same(called, own) {
		return own, nil
	}
	return called, nil
}

// same reports whether two paths lead to the same file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
