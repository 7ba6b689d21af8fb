package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// server is a running server with a data directory of its own, on a disk.
type server struct {
	cmd *exec.Cmd
	// binary is its name in the table, dir its folder.
	binary, dir string
	config      *rest.Config
	// kubeconfig is the file that config is from.
	kubeconfig string
	// of is the server whose responses this plain handler sends; nil for other servers. stores says that it writes to
	// etcd, peer that this is another project's server.
	of           *server
	stores, peer bool
}

var readyLine = regexp.MustCompile(`ready in \d+ ms: .*, kubeconfig (.+)$`)

// start runs a server and returns when it is ready.
func start(ctx context.Context, binary string) (*server, error) {
	dir, err := os.MkdirTemp("", "kubecascade-clients-")
	if err != nil {
		return nil, err
	}
	s := &server{binary: filepath.Base(binary), dir: dir}
	return s, s.run(exec.CommandContext(
		ctx, binary, "serve", "--data-dir", dir, "--insecure-port", "-1", "--secure-port", "0", "--profiling",
	))
}

// startPeer runs another project's server of custom resources.
func startPeer(ctx context.Context, binary string) (*server, error) {
	dir, err := os.MkdirTemp("", "kubecascade-clients-")
	if err != nil {
		return nil, err
	}
	s := &server{binary: filepath.Base(binary), dir: dir, peer: true}
	return s, s.run(exec.CommandContext(ctx, binary, "-data-dir", dir))
}

// run starts the command and waits until it is ready.
func (s *server) run(c *exec.Cmd) error {
	s.cmd = c
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.ready(out); err != nil {
		return errors.Join(err, s.stop())
	}
	return nil
}

// ready waits for the line that says where the server is.
func (s *server) ready(out io.Reader) (err error) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		m := readyLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, out) }() // it ends with the server
		if s.config, err = clientcmd.BuildConfigFromFlags("", m[1]); err != nil {
			return err
		}
		s.kubeconfig = m[1]
		s.config.QPS = -1 // else client-go limits itself to 5 requests/s
		return nil
	}
	return errors.New("the server ended before it was ready")
}

func (s *server) stop() error {
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	if e := s.cmd.Wait(); err == nil {
		err = e
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// usage is the processor time that the server and this program, which has the clients, have used at a time.
type usage struct {
	at             time.Time
	server, client time.Duration
}

func (s *server) usage() usage { return usage{time.Now(), cpu(s.cmd.Process.Pid), cpu(os.Getpid())} }

// since measures n operations.
func (u usage) since(before usage, n int) measured {
	return measured{rate: float64(n) / u.at.Sub(before.at).Seconds(), cpu: (u.server - before.server) / time.Duration(n),
		client: (u.client - before.client) / time.Duration(n)}
}

// cpu is the processor time that a process has used, in steps of 10 ms.
func cpu(pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// resetPeak makes peak begin anew. The system may not have it, or not permit it.
func (s *server) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0)
}

// peak is the most memory that the server has had resident since resetPeak, in MiB; 0 if that is not known.
func (s *server) peak() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0
	}
	return kib / 1024
}

// profile writes a CPU profile of the server, of so many seconds.
func (s *server) profile(ctx context.Context, file string, seconds int) error {
	req, err := http.NewRequestWithContext(
		ctx, http.MethodGet, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", s.config.Host, seconds), nil,
	)
	if err != nil {
		return err
	}
	c, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	return errors.Join(err, f.Close())
}
