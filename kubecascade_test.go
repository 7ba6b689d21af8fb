package kubecascade_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// start starts a server that is stopped at the end of the test.
func start(t testing.TB, o kubecascade.Options) *kubecascade.Server {
	t.Helper()
	return kubecascadetest.New(t, func(options *kubecascade.Options) {
		o.Log = cmp.Or(o.Log, options.Log)
		*options = o
	})
}

// client returns a client with a transport of its own, and its function to close connections.
func client(t testing.TB, c *rest.Config) (*http.Client, func()) {
	t.Helper()
	config, err := rest.TLSConfigFor(c)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &http.Client{Transport: tr}, tr.CloseIdleConnections
}

// TestZeroOptionsServeTemporaryData: a server with zero Options serves TLS to an administrator, and Stop leaves nothing
// on disk.
func TestZeroOptionsServeTemporaryData(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, kubecascade.Options{})
	if s.InsecureURL() != "" || !strings.HasPrefix(s.URL(), "https://127.0.0.1:") {
		t.Errorf("URLs %q and %q", s.InsecureURL(), s.URL())
	}
	newSession(t, s).must(http.StatusCreated, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	if _, err := os.Stat(s.Kubeconfig()); err != nil {
		t.Error(err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}
	<-s.Done()
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestDirectoryKeepsData: a directory's data is there again at the next start, and one server at a time has it.
func TestDirectoryKeepsData(t *testing.T) {
	o := kubecascade.Options{Storage: kubecascade.Storage{Dir: filepath.Join(t.TempDir(), "data")},
		Controllers: kubecascade.Controllers{Enabled: []string{}}}
	s := start(t, o)
	newSession(t, s).must(http.StatusCreated, "POST", "/api/v1/namespaces", `{"metadata":{"name":"kept"}}`)
	if _, err := kubecascade.Start(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "Options.Storage.Dir "+o.Storage.Dir+" is used by another process") {
		t.Errorf("a second server: %v", err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, o)
	newSession(t, s).must(http.StatusOK, "GET", "/api/v1/namespaces/kept", "")
}

// TestErrorsNameFieldAndFlag: errors name the field, and the wrapped error names the flag.
func TestErrorsNameFieldAndFlag(t *testing.T) {
	for _, c := range []struct {
		set         func(*kubecascade.Options)
		field, flag string
	}{
		{
			func(o *kubecascade.Options) { o.Addresses.BindAddress = "here" },
			`kubecascade: Options.Addresses.BindAddress "here" is not an IP address`,
			`--bind-address "here" is not an IP address`,
		},
		{
			func(o *kubecascade.Options) { o.Controllers.Workers = map[string]int{"job-controller": 0} },
			`kubecascade: Options.Controllers.Workers["job-controller"] 0 is less than 1`,
			"--concurrent-job-syncs 0 is less than 1",
		},
		{
			func(o *kubecascade.Options) { o.Controllers.Workers = map[string]int{"job": 1} },
			`kubecascade: the number of workers of controller "job" can't be set`,
			`the number of workers of controller "job" can't be set`,
		},
		{
			func(o *kubecascade.Options) { o.Services.NodePortRange = "x" },
			`kubecascade: Options.Services.NodePortRange: "x": a range of ports is needed, as in 30000-32767`,
			`--service-node-port-range: "x": a range of ports is needed, as in 30000-32767`,
		},
		{
			func(o *kubecascade.Options) { o.Storage.CAFile = "ca" },
			"kubecascade: Options.Storage.CAFile requires Options.Storage.Endpoints", "--etcd-cafile requires --etcd-servers",
		},
		{
			func(o *kubecascade.Options) { o.Limits.MaxMemoryInFlight = 1 << 20 },
			"kubecascade: Options.Limits.MaxMemoryInFlight 1Mi is less than 16Mi", "--max-memory-inflight 1Mi is less than 16Mi",
		},
	} {
		var o kubecascade.Options
		c.set(&o)
		err := o.Check()
		if err == nil || err.Error() != c.field || errors.Unwrap(err).Error() != c.flag {
			t.Errorf("%v, want %s", err, c.field)
		}
		if _, again := kubecascade.Start(t.Context(), o); again == nil || again.Error() != c.field {
			t.Errorf("Start: %v, want %s", again, c.field)
		}
	}
	if err := (kubecascade.Options{}).Check(); err != nil {
		t.Errorf("the zero Options: %v", err)
	}
}

// TestRejectedValues: these values are errors that name their fields.
func TestRejectedValues(t *testing.T) {
	type options = kubecascade.Options
	for field, set := range map[string]func(*options){
		"Addresses.InsecureBindAddress": func(o *options) {
			o.Addresses.InsecurePort, o.Addresses.InsecureBindAddress = -1, "10.0.0.1"
		},
		"Addresses.Hosts":                  func(o *options) { o.Addresses.Hosts = []string{"a_b"} },
		"Addresses.ExternalHostname":       func(o *options) { o.Addresses.ExternalHostname = "a_b" },
		"Addresses.AdvertiseAddress":       func(o *options) { o.Addresses.AdvertiseAddress = "here" },
		"Addresses.EndpointReconcilerType": func(o *options) { o.Addresses.EndpointReconcilerType = "some" },
		"Addresses.CipherSuites":           func(o *options) { o.Addresses.CipherSuites = []string{"some"} },
		"Addresses.CurvePreferences":       func(o *options) { o.Addresses.CurvePreferences = []int32{-1} },
		"Addresses.MinTLSVersion":          func(o *options) { o.Addresses.MinTLSVersion = "some" },
		"Storage.Endpoints":                func(o *options) { o.Storage.Endpoints = []string{"here"} },
		"Storage.CertFile": func(o *options) {
			o.Storage.Endpoints, o.Storage.CertFile = []string{"http://here"}, "cert"
		},
		"Access.RequestHeader.UIDHeaders": func(o *options) { o.Access.RequestHeader.UIDHeaders = []string{"Uid"} },
		"Access.Modes":                    func(o *options) { o.Access.Modes = []string{""} },
		"Access.Issuers":                  func(o *options) { o.Access.Issuers = []string{"a", "a"} },
		"Access.Audiences":                func(o *options) { o.Access.Audiences = []string{""} },
		"Access.KeyFiles":                 func(o *options) { o.Access.KeyFiles = []string{""} },
		"Access.Kubelets.CertFile":        func(o *options) { o.Access.Kubelets.CertFile = "cert" },
		"Access.Kubelets.Port":            func(o *options) { o.Access.Kubelets.Port = 65536 },
		"Access.FrontProxy.CertFile":      func(o *options) { o.Access.FrontProxy.KeyFile = "key" },
		"Admission.Enable":                func(o *options) { o.Admission.Enable = []string{"Some"} },
		"Limits.MaxInFlight":              func(o *options) { o.Limits.MaxInFlight = -1 },
		"Services.ClusterIPRange":         func(o *options) { o.Services.ClusterIPRange = "x" },
		"Services.KubernetesNodePort":     func(o *options) { o.Services.KubernetesNodePort = 1 },
	} {
		var o options
		set(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), "Options."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestCanceledStartLeavesNoFiles: a start whose context is done leaves no files.
func TestCanceledStartLeavesNoFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kubecascade.Start(ctx, kubecascade.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestEachServerHasItsLogger: each server logs to its own logger.
func TestEachServerHasItsLogger(t *testing.T) {
	var logs [2]apiservertest.Lines
	var all sync.WaitGroup
	for i := range logs {
		all.Go(func() {
			s, err := kubecascade.Start(t.Context(), kubecascade.Options{
				Log: slog.New(slog.NewTextHandler(&logs[i], &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			if err != nil {
				t.Error(err)
				return
			}
			c, done := client(t, s.Config())
			for range i + 1 {
				res, err := c.Get(fmt.Sprintf("%s/api/v1/namespaces/default/configmaps/of-%d", s.URL(), i))
				if err != nil {
					t.Error(err)
					break
				}
				res.Body.Close()
			}
			done()
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range logs {
		own, other := fmt.Sprintf("of-%d", i), fmt.Sprintf("of-%d", 1-i)
		if got := logs[i].String(); strings.Count(got, own) != i+1 || strings.Contains(got, other) {
			t.Errorf("log %d: %s", i, got)
		}
	}
}

// TestServersAreIndependent: servers that are started and stopped at once are independent, and leave no goroutine, with
// watches open while they stop.
func TestServersAreIndependent(t *testing.T) {
	before := goroutines()
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			s, err := kubecascade.Start(context.Background(), kubecascade.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			c, done := client(t, s.Config())
			defer done()
			if n := created(t, c, s.URL(), i); n != i+1 {
				t.Errorf("server %d has %d config maps", i, n)
			}
			res, err := c.Get(s.URL() + "/api/v1/configmaps?watch=true")
			if err != nil {
				t.Error(err)
				return
			}
			ended := make(chan error, 1)
			go func() {
				_, err := io.Copy(io.Discard, res.Body)
				ended <- errors.Join(err, res.Body.Close())
			}()
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if err := <-ended; err != nil {
				t.Errorf("the watch: %v", err)
			}
		})
	}
	all.Wait()
	if more := newGoroutines(before, 10*time.Second); more != "" {
		t.Errorf("goroutines are left:\n%s", more)
	}
}

// TestStopDoesNotWaitForIdleClients: Stop doesn't wait for clients that keep a connection of HTTP/2 without requests,
// and completes the response to one that has a request, here a watch that is open.
func TestStopDoesNotWaitForIdleClients(t *testing.T) {
	s := start(t, kubecascade.Options{Controllers: kubecascade.Controllers{Enabled: []string{}}})
	c, done := client(t, s.Config())
	defer done()
	created(t, c, s.URL(), 0)
	watching, doneWatching := client(t, s.Config())
	defer doneWatching()
	res, err := watching.Get(s.URL() + "/api/v1/configmaps?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Fatalf("the protocol is %s", res.Proto)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, res.Body)
		ended <- err
	}()
	begun := time.Now()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took >= time.Second { // net/http's goAwayTimeout
		t.Errorf("Stop took %v", took)
	}
	if err := <-ended; err != nil {
		t.Errorf("the watch: %v", err)
	}
}

// created creates n+1 config maps and returns how many there are in their namespace.
func created(t testing.TB, c *http.Client, url string, n int) int {
	path := url + "/api/v1/namespaces/default/configmaps"
	for i := range n + 1 {
		res, err := c.Post(path, "application/json", strings.NewReader(fmt.Sprintf(`{"metadata":{"name":"c%d"}}`, i)))
		if err != nil {
			t.Error(err)
			return 0
		}
		res.Body.Close()
	}
	res, err := c.Get(path)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return strings.Count(string(body), `"name":"c`)
}

// TestCertificates: a server accepts no other server's administrator.
func TestCertificates(t *testing.T) {
	off := kubecascade.Controllers{Enabled: []string{}}
	a, b := start(t, kubecascade.Options{Controllers: off}), start(t, kubecascade.Options{Controllers: off})
	mixed := a.Config()
	mixed.CertData, mixed.KeyData = b.Config().CertData, b.Config().KeyData
	c, done := client(t, mixed)
	defer done()
	res, err := c.Get(a.URL() + "/api/v1/namespaces")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("with the certificate of another server: %s", res.Status)
	}
	c, done = client(t, b.Config())
	defer done()
	var wrong *tls.CertificateVerificationError
	if _, err := c.Get(a.URL() + "/api/v1/namespaces"); !errors.As(err, &wrong) {
		t.Errorf("a client of another server: %v", err)
	}
}

// TestConfigLimit: clients of client-go don't slow down tests with the limit that they have by default.
func TestConfigLimit(t *testing.T) {
	s := start(t, kubecascade.Options{Controllers: kubecascade.Controllers{Enabled: []string{}}})
	config := s.Config()
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme())
	c, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if !c.GetRateLimiter().TryAccept() {
			t.Fatalf("request %d must wait", i)
		}
	}
}
