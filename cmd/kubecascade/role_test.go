package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/internal/assets"
)

// plane is a control plane in processes as envtest has them, in a directory of its own.
type plane struct {
	t                *testing.T
	dir, assets      string
	etcdURL, apiPort string
	client           *http.Client
}

// newPlane makes the directory of binaries with the arguments of envtest-assets, and the files that kube-apiserver
// needs.
func newPlane(t *testing.T, args ...string) *plane {
	t.Helper()
	p := &plane{t: t, dir: t.TempDir(), etcdURL: "http://" + freeAddress(t)}
	_, p.apiPort, _ = net.SplitHostPort(freeAddress(t))
	c := assetsCommand()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(io.Discard)
	c.SetArgs(append([]string{"--dir", filepath.Join(p.dir, "assets")}, args...))
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	p.assets = strings.TrimSuffix(out.String(), "\n")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p.write("sa.key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
	p.write("tokens.csv", `secret,admin,1,"system:masters"`)
	p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(p.client.CloseIdleConnections)
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func (p *plane) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// member is a process of the plane.
type member struct {
	p    *plane
	cmd  *exec.Cmd
	log  bytes.Buffer
	done chan error
}

// start starts a binary of the directory, and waits until the URL answers 200.
func (p *plane) start(name, healthy string, env []string, args ...string) *member {
	p.t.Helper()
	m := &member{p: p, cmd: exec.Command(filepath.Join(p.assets, name), args...), done: make(chan error, 1)}
	m.cmd.Dir, m.cmd.Stdout, m.cmd.Stderr = p.dir, &m.log, &m.log
	m.cmd.Env = append(os.Environ(), env...)
	if err := m.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { m.done <- m.cmd.Wait() }()
	p.t.Cleanup(func() { _ = m.cmd.Process.Kill() }) // it may have ended
	for deadline := time.After(patience); ; {
		if res, err := p.client.Get(healthy); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return m
			}
		}
		select {
		case err := <-m.done:
			p.t.Fatalf("%s ended: %v\n%s", name, err, &m.log)
		case <-deadline:
			p.t.Fatalf("%s is not ready\n%s", name, &m.log)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (p *plane) startEtcd() *member {
	p.t.Helper()
	return p.start("etcd", p.etcdURL+"/health", nil, "--data-dir=etcd", "--unsafe-no-fsync=true",
		"--listen-client-urls="+p.etcdURL, "--advertise-client-urls="+p.etcdURL, "--listen-peer-urls=http://127.0.0.1:0")
}

func (p *plane) startAPIServer(env ...string) *member { return p.startAPIServerWith(env) }

// startAPIServerWith starts kube-apiserver with the usual arguments and more.
func (p *plane) startAPIServerWith(env []string, more ...string) *member {
	p.t.Helper()
	return p.start("kube-apiserver", p.url("/healthz"), env, append([]string{
		"--etcd-servers=" + p.etcdURL, "--cert-dir=certs",
		"--secure-port=" + p.apiPort, "--bind-address=127.0.0.1", "--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC", "--allow-privileged=true", "--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer=https://127.0.0.1/", "--service-account-key-file=sa.key",
		"--service-account-signing-key-file=sa.key", "--token-auth-file=tokens.csv",
	}, more...)...)
}

// stop ends a process by SIGTERM, and returns its exit error.
func (m *member) stop() error {
	m.p.t.Helper()
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		m.p.t.Fatal(err)
	}
	select {
	case err := <-m.done:
		return err
	case <-time.After(patience):
		m.p.t.Fatalf("the process does not end\n%s", &m.log)
		return nil
	}
}

func (p *plane) url(path string) string { return "https://127.0.0.1:" + p.apiPort + path }

// request returns the status and body of an administrator's request.
func (p *plane) request(method, path, body string) (int, string) {
	p.t.Helper()
	a, err := apiservertest.Send(p.client, method, p.url(path), body, "Authorization", "Bearer secret")
	if err != nil {
		p.t.Fatal(err)
	}
	return a.Code, string(a.Body)
}

const orphan = `{"metadata":{"name":"orphan","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"none",` +
	`"uid":"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}]}}`

// TestControlPlane: the links are kube-apiserver and etcd. Data outlives the API server, other clients read it from
// etcd, no controller runs and no faults are served, and environment variables enable both.
func TestControlPlane(t *testing.T) {
	p := newPlane(t)
	e := p.startEtcd()
	api := p.startAPIServer()
	const maps, plans = "/api/v1/namespaces/default/configmaps", "/kubecascade/v1/faults"
	if code, body := p.request("GET", plans, ""); code != http.StatusNotFound {
		t.Errorf("%d %s", code, body)
	}
	if code, body := p.request("POST", maps, orphan); code != http.StatusCreated {
		t.Fatalf("%d %s", code, body)
	}
	if code, body := p.request("GET", "/version", ""); code != 200 || !strings.Contains(body, `"v1.37.2`) {
		t.Errorf("%d %s", code, body)
	}
	if err := api.stop(); err != nil {
		t.Errorf("kube-apiserver ended with %v\n%s", err, &api.log)
	}
	if !strings.Contains(api.log.String(), "allow-privileged") || strings.Contains(api.log.String(), "token-auth-file") {
		t.Errorf("the log does not name the flags without effect: %s", &api.log)
	}
	p.stored("/registry/configmaps/default/orphan")
	api = p.startAPIServer(assets.ControllersVariable+"=garbage-collector-controller", "KUBECASCADE_ENABLE_FAULTS=true")
	if code, body := p.request("GET", plans, ""); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		code, body := p.request("GET", maps+"/orphan", "")
		if code == http.StatusNotFound {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the collector does not delete the object: %d %s", code, body)
		}
	}
	if err := api.stop(); err != nil {
		t.Errorf("kube-apiserver ended with %v\n%s", err, &api.log)
	}
	var exit *exec.ExitError
	if err := e.stop(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("etcd ended with %v, want the signal, as etcd does\n%s", err, &e.log)
	}
}

// stored fails the test unless etcd has the key for another client.
func (p *plane) stored(key string) {
	p.t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{p.etcdURL}, DialTimeout: patience})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	if res, err := c.Get(ctx, key); err != nil || len(res.Kvs) != 1 {
		p.t.Errorf("etcd has %v for %s: %v", res, key, err)
	}
}

// TestRoleControllers: the variable comes first, then the directory; else there are none, which is not the default
// list.
func TestRoleControllers(t *testing.T) {
	for _, c := range []struct {
		args     []string
		variable string
		set      bool
		want     []string
	}{
		{nil, "", false, []string{}},
		{[]string{"--collector"}, "", false, []string{"garbage-collector-controller", "namespace-controller"}},
		{
			[]string{"--controllers=job-controller,-cronjob-controller"}, "", false,
			[]string{"job-controller", "-cronjob-controller"},
		},
		{[]string{"--collector"}, "", true, []string{}},
		{[]string{"--collector"}, "job-controller", true, []string{"job-controller"}},
	} {
		p := newPlane(t, c.args...)
		lookup := func(name string) (string, bool) { return c.variable, c.set && name == assets.ControllersVariable }
		got, err := assets.ControllersOf(filepath.Join(p.assets, "kube-apiserver"), lookup)
		if err != nil || got == nil || !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %q %v, want %q", c.args, c.variable, got, err, c.want)
		}
	}
}

// TestRoleErrors: an error of the command line ends kube-apiserver with 1, and has kube-apiserver's message. One of the
// environment ends it, too.
func TestRoleErrors(t *testing.T) {
	p := newPlane(t)
	t.Setenv("KUBECASCADE_ENABLE_FAULTS", "yes")
	for args, want := range map[string]string{
		"--nonsense": "unknown flag: --nonsense\n",
		"--etcd-servers=http://x:1 --service-account-issuer=https://x/ --service-account-signing-key-file=x " +
			"--service-account-key-file=x": "KUBECASCADE_ENABLE_FAULTS: strconv.ParseBool: ",
	} {
		out, err := exec.Command(filepath.Join(p.assets, "kube-apiserver"), strings.Fields(args)...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasPrefix(string(out), "Error: "+want) {
			t.Errorf("%v %s", err, out)
		}
	}
	c := assetsCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"--controllers=nonsense", "--dir", filepath.Join(p.dir, "other")})
	var usage errUsage
	if err := c.Execute(); !errors.As(err, &usage) {
		t.Errorf("unknown controllers: %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "other")); !os.IsNotExist(err) {
		t.Errorf("a directory was made in spite of the error: %v", err)
	}
}
