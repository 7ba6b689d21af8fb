package etcd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

// oldest and rejected are paths of etcd programs: the oldest supported version 3.5, and the version before it.
var oldest, rejected string

func TestMain(m *testing.M) {
	os.Exit(process.Run(m, func(dir string) (err error) {
		if oldest, err = build(dir, "v3.5.13"); err == nil {
			rejected, err = build(dir, "v3.5.12")
		}
		return err
	}))
}

// build builds a version of etcd in a separate module, because one module can't require two versions.
func build(dir, version string) (program string, err error) {
	const server = "go.etcd.io/etcd/server/v3"
	program, dir = filepath.Join(dir, "etcd-"+version), filepath.Join(dir, version)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"mod", "init", "etcd"}, {"get", server + "@" + version}, {"build", "-mod=mod", "-o", program, server},
	} {
		c := exec.Command("go", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building etcd %s: go %s: %w\n%s", version, args[0], err, out)
		}
	}
	return program, nil
}
