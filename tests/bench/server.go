package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/tests/process"
)

// program is a binary to measure.
type program struct {
	label, path string
	// peer reports whether the program is apiextensions-apiserver, which serves custom resources, but no namespaces.
	peer bool
}

// server is a running program with its own directory.
type server struct {
	*process.Server
	dir    string
	config *rest.Config
	// admin sends requests of an administrator. Each concurrent request has its own connection.
	admin *client
	// began is the time when the process was started.
	began time.Time
}

// ephemeral is the flag for data without fsync. Without it the data is in a new directory.
const ephemeral = "--ephemeral"

// start starts a server and waits until it is ready. The server ends with ctx or by stop. The caller must call stop,
// even after an error.
func (p program) start(ctx context.Context, flags ...string) (s *server, err error) {
	s = &server{}
	if s.dir, err = os.MkdirTemp("", "kubecascade-bench-"); err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--secure-port=0", "--insecure-port=-1"}, flags...)
	switch {
	case p.peer:
		args = []string{"-data-dir", s.dir}
	case !slices.Contains(flags, ephemeral):
		args = append(args, "--data-dir", s.dir)
	}
	c := exec.CommandContext(ctx, p.path, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	s.began = time.Now()
	if s.Server, err = process.Launch(c); err != nil {
		return s, err
	}
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig); err != nil {
		return s, err
	}
	s.config.QPS = -1 // disables client-go's limit
	s.admin, err = s.client(http1)
	return s, err
}

// stop ends the server, if it was started, and removes its directory.
func (s *server) stop() (err error) {
	if s == nil {
		return nil
	}
	if s.admin != nil {
		s.admin.close()
	}
	if s.Server != nil {
		err = s.Stop()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
