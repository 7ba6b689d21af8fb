package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"
)

// process is a running server with a data directory of its own.
type process struct {
	cmd *exec.Cmd
	dir string
	// plain and secure are the URLs of the two ports.
	plain, secure string
	began         time.Time
}

// stopTimeout is how long a server may take to stop before it is killed.
const stopTimeout = 30 * time.Second

// run starts the server on free ports; it doesn't wait until it is ready. The server stops when ctx is done, so that
// an interrupted run ends whatever request it waits for, and leaves no server behind.
func (b *bench) run(ctx context.Context, flags ...string) (*process, error) {
	dir, err := os.MkdirTemp("", "kubecascade-bench-")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir, plain: "http://127.0.0.1:" + ports[0], secure: "https://127.0.0.1:" + ports[1]}
	arguments := []string{"serve", "--insecure-port", ports[0], "--secure-port", ports[1]}
	if slices.Contains(flags, "--ephemeral") {
		arguments = append(arguments, "--kubeconfig-out", filepath.Join(dir, "admin.kubeconfig"))
	} else {
		arguments = append(arguments, "--data-dir", dir)
	}
	p.cmd = exec.CommandContext(ctx, b.binary, append(arguments, flags...)...)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stopTimeout
	p.cmd.Stderr = os.Stderr
	p.began = time.Now()
	return p, p.cmd.Start()
}

// freePorts finds unused ports.
func freePorts(n int) (ports []string, err error) {
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer ln.Close()
		ports = append(ports, strconv.Itoa(ln.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

// stop ends the server and removes its data.
func (p *process) stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	if e := p.cmd.Wait(); err == nil {
		err = e
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// firstWrite creates an object, with retries until the server accepts it, and returns the time since the start of the
// process.
func (p *process) firstWrite(ctx context.Context) (time.Duration, error) {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		res, err := http.Post(p.plain+"/api/v1/namespaces/default/configmaps", "application/json",
			strings.NewReader(`{"metadata":{"name":"first"}}`))
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body) // only the status code matters
			res.Body.Close()
			if res.StatusCode == http.StatusCreated {
				return time.Since(p.began), nil
			}
		}
		time.Sleep(time.Millisecond) // no event announces that a port opens
	}
	return 0, errors.New("the server accepted no write within a minute")
}

// restTime is the time for the runtime to return memory to the system before it is measured.
const restTime = 30 * time.Second

// atRest returns the memory of a process in MiB after restTime.
func atRest(ctx context.Context, pid int) (float64, error) {
	select {
	case <-time.After(restTime):
		return resident(pid)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// resident is the process' memory in MiB.
func (p *process) resident() (float64, error) { return resident(p.cmd.Process.Pid) }

func resident(pid int) (float64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// credentials are those of the administrator.
func (p *process) credentials() (*tls.Config, error) {
	data, err := os.ReadFile(filepath.Join(p.dir, "admin.kubeconfig"))
	if err != nil {
		return nil, err
	}
	var c struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(c.Users[0].User.Cert, c.Users[0].User.Key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.Clusters[0].Cluster.CA)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}}, nil
}

// client is an HTTPS client with the administrator's certificate and as many connections as requests in flight.
func (p *process) client() (*http.Client, error) {
	c, err := p.credentials()
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, TLSClientConfig: c}}, nil
}

// target is the secure port, for an administrator.
func (p *process) target() (*target, error) {
	c, err := p.credentials()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(p.secure)
	return &target{url: u, tls: c, pid: p.cmd.Process.Pid}, err
}

// do sends a request and reads the answer; codes of failure are errors.
func do(ctx context.Context, c *http.Client, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, url, res.Status, data)
	}
	return data, err
}
