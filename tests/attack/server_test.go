//go:build linux

package attack

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/tests/process"
)

// The users. Each has a token.
const (
	// admin is a member of system:masters.
	admin = "admin"
	// attacker has all permissions in the namespace attack, and none elsewhere.
	attacker = "mallory"
	// stranger has only the permissions of every authenticated user.
	stranger = "stranger"
	// other is the user whose requests must not be affected. It may get ConfigMaps in the namespace other.
	other = "other"

	// tokenFile is the content of the file for --token-auth-file.
	tokenFile = "admin-token,admin,1,system:masters\nmallory-token,mallory,2\n" +
		"stranger-token,stranger,3\nother-token,other,4\n"
)

func token(user string) string { return user + "-token" }

const (
	namespaces = "/api/v1/namespaces"
	attacked   = namespaces + "/attack"
	configMaps = attacked + "/configmaps"
	ordinary   = namespaces + "/other/configmaps/c"
	rbac       = "/apis/rbac.authorization.k8s.io/v1"
)

// target is the URL of a server's secure port.
type target string

func settings(protocols ...string) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}
}

type client struct {
	base, user string
	http       *http.Client
}

// client returns a client with one connection for each concurrent request, or with one HTTP/2 connection if
// multiplexed.
func (t target) client(user string, multiplexed bool) *client {
	tr := &http.Transport{TLSClientConfig: settings(), ForceAttemptHTTP2: multiplexed, MaxIdleConnsPerHost: 1024}
	return &client{string(t), user, &http.Client{Transport: tr}}
}

// request is a request of a client. media is the media type of the body; the default is JSON.
type request struct{ method, path, body, media, accept string }

// open sends a request and returns the response. The caller closes its body.
func (c *client) open(ctx context.Context, r request, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token(c.user))
	req.Header.Set("Content-Type", cmp.Or(r.media, "application/json"))
	req.Header.Set("Accept", cmp.Or(r.accept, "application/json"))
	return c.http.Do(req)
}

// send sends a request, reads the response, and returns the first megabytes of it.
func (c *client) send(ctx context.Context, r request) (code int, text string, err error) {
	res, err := c.open(ctx, r, strings.NewReader(r.body))
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	return res.StatusCode, string(data), err
}

// want sends a request, and fails unless the response has the code.
func (c *client) want(ctx context.Context, code int, r request) (string, error) {
	got, text, err := c.send(ctx, r)
	if err == nil && got != code {
		path, _, _ := strings.Cut(r.path, "?")
		err = fmt.Errorf("%s %s: %d %.300s", r.method, path, got, text)
	}
	return text, err
}

// create creates objects as an administrator. The arguments are pairs of paths and bodies.
func (t target) create(ctx context.Context, objects ...[2]string) error {
	c := t.client(admin, true)
	defer c.http.CloseIdleConnections()
	for _, o := range objects {
		if _, err := c.want(ctx, http.StatusCreated, request{method: "POST", path: o[0], body: o[1]}); err != nil {
			return err
		}
	}
	return nil
}

// dial opens a connection to the secure port with the protocol. The kernel buffers only little of the unread data.
func (t target) dial(ctx context.Context, protocol string) (net.Conn, error) {
	under, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(string(t), "https://"))
	if err != nil {
		return nil, err
	}
	if err := under.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return nil, err
	}
	c := tls.Client(under, settings(protocol))
	return c, c.HandshakeContext(ctx)
}

// head returns the head of an HTTP/1.1 request.
func head(method, path, user string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token(user) + "\r\n"
}

// server is a process with its own data directory.
type server struct {
	target
	*process.Server
}

// patience is the maximum duration of operations that are never slow.
const patience = 30 * time.Second

// serve starts a server with the users' permissions. The server ends with the test. The limit of its heap is the one in
// a container with maxMemory, or GOMEMLIMIT. It fails if it needs more than twice maxMemory.
func serve(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(tokenFile), 0o600); err != nil {
		t.Fatal(err)
	}
	limits := fmt.Sprintf(`ulimit -d %d; GOMEMLIMIT=${GOMEMLIMIT:-%d} exec "$@"`, 2*maxMemory>>10, maxMemory/10*9)
	args := []string{"-c", limits, "sh", process.Binary, "serve", "--data-dir", filepath.Join(dir, "data"),
		"--insecure-port=-1", "--secure-port=0", "--authorization-mode=RBAC", "--token-auth-file", tokens}
	p, err := process.Launch(exec.Command("sh", args...))
	must(t, err)
	t.Cleanup(p.Kill)
	s := &server{target(p.Secure), p}
	role := func(rules string) string { return `{"metadata":{"name":"own"},"rules":[` + rules + `]}` }
	bind := func(user string) string {
		return `{"metadata":{"name":"own"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"own"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"` + user + `"}]}`
	}
	must(t, s.create(t.Context(), [][2]string{
		{namespaces, `{"metadata":{"name":"attack"}}`},
		{namespaces, `{"metadata":{"name":"other"}}`},
		{namespaces + "/other/configmaps", `{"metadata":{"name":"c"},"data":{"k":"v"}}`},
		{rbac + "/namespaces/attack/roles", role(`{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}`)},
		{rbac + "/namespaces/attack/rolebindings", bind(attacker)},
		{rbac + "/namespaces/other/roles", role(`{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}`)},
		{rbac + "/namespaces/other/rolebindings", bind(other)},
	}...))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// down returns the reason why the server does not serve any more, or an empty string.
func (s *server) down(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := s.client(other, false).want(ctx, http.StatusOK, request{method: "GET", path: ordinary})
	select {
	case <-s.Ended:
		return fmt.Sprintf("the server ended: %v %s", s.State(), failure.FindString(s.Log.String()))
	default:
	}
	if err != nil {
		return "the server does not serve: " + err.Error()
	}
	return ""
}

// failure matches the line of a log with the reason why a Go program ended.
var failure = regexp.MustCompile(`(?m)^(fatal error|panic): .*`)

// usage ends the server, and returns its processor time and the maximum of its resident memory in bytes.
func (s *server) usage() (cpu time.Duration, peak int64) {
	s.Kill()
	used := s.State()
	return used.UserTime() + used.SystemTime(), used.SysUsage().(*syscall.Rusage).Maxrss << 10
}
