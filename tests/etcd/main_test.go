package etcd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// oldest and rejected are etcd servers, the oldest of 3.5 that is supported and the one before; server is the
// server under test.
var oldest, rejected, server string

func TestMain(m *testing.M) {
	code, err := build(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// build builds the servers and runs the tests.
func build(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "kubecascade-etcd-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	for _, b := range []struct {
		binary        *string
		name, in, pkg string
	}{
		{&server, "kubecascade", filepath.Join("..", ".."), "./cmd/kubecascade"},
		{&oldest, "oldest", ".", "go.etcd.io/etcd/server/v3"},
		{&rejected, "rejected", "rejected", "go.etcd.io/etcd/server/v3"},
	} {
		*b.binary = filepath.Join(dir, b.name)
		c := exec.Command("go", "build", "-C", b.in, "-o", *b.binary, b.pkg)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			return 1, fmt.Errorf("building %s: %w", b.name, err)
		}
	}
	return m.Run(), nil
}
