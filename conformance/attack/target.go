package attack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// The users of every attack. Each has a token.
const (
	// admin is a member of system:masters.
	admin = "admin"
	// attacker may do everything in the namespace attack, and nothing elsewhere.
	attacker = "mallory"
	// stranger has no rights but those of every authenticated user.
	stranger = "stranger"
	// other is the user who mustn't notice anything. It may get ConfigMaps in the namespace other.
	other = "other"
)

// tokenFile is what --token-auth-file reads.
func tokenFile() string {
	var b strings.Builder
	for _, user := range []string{attacker, stranger, other} {
		fmt.Fprintf(&b, "%s,%s,%s-uid\n", token(user), user, user)
	}
	fmt.Fprintf(&b, "%s,%s,%s-uid,system:masters\n", token(admin), admin, admin)
	return b.String()
}

func token(user string) string { return user + "-token" }

// Target says where a server serves.
type Target struct {
	// Plain and Secure are the URLs of its two ports.
	Plain, Secure string
	// CA is the certificate of its authority, in PEM.
	CA []byte
}

// tls returns the settings of a connection with the given protocols ("h2", "http/1.1").
func (t *Target) tls(protocols ...string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(t.CA)
	return &tls.Config{RootCAs: roots, NextProtos: protocols}
}

// Client sends the requests of one user.
type Client struct {
	base, user string
	http       *http.Client
}

// client returns a client with as many connections as it has requests in flight; with one, over HTTP/2, if multiplexed.
func (t *Target) client(user string, multiplexed bool) *Client {
	tr := &http.Transport{TLSClientConfig: t.tls(), ForceAttemptHTTP2: multiplexed, MaxIdleConnsPerHost: 1024}
	return &Client{base: t.Secure, user: user, http: &http.Client{Transport: tr}}
}

// close closes idle connections.
func (c *Client) close() { c.http.CloseIdleConnections() }

// Request is what a client sends.
type Request struct {
	Method, Path string
	Body         []byte
	// Media is the body's media type; "" means JSON.
	Media string
	// Header are names and values in turn.
	Header []string
}

// Answer is what a client hears. Body is at most mostAnswer bytes of it.
type Answer struct {
	Code int
	Body []byte
}

// mostAnswer is how much of an answer is kept; the rest is read.
const mostAnswer = 4 << 20

// open sends a request and returns the answer, whose body is to be closed.
func (c *Client) open(ctx context.Context, r Request, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, c.base+r.Path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token(c.user))
	if body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.Media, "application/json"))
	}
	for i := 0; i+1 < len(r.Header); i += 2 {
		req.Header.Add(r.Header[i], r.Header[i+1])
	}
	return c.http.Do(req)
}

// send sends a request and reads the answer.
func (c *Client) send(ctx context.Context, r Request) (Answer, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	res, err := c.open(ctx, r, body)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	return Answer{res.StatusCode, data}, err
}

// want sends a request that must be answered with the code.
func (c *Client) want(ctx context.Context, code int, r Request) (Answer, error) {
	a, err := c.send(ctx, r)
	if err == nil && a.Code != code {
		path, _, _ := strings.Cut(r.Path, "?")
		err = fmt.Errorf("%s %s: %d %.300s", r.Method, path, a.Code, a.Body)
	}
	return a, err
}

// make creates an object.
func (c *Client) make(ctx context.Context, path, body string) error {
	_, err := c.want(ctx, http.StatusCreated, Request{Method: "POST", Path: path, Body: []byte(body)})
	return err
}

// dial opens a connection to the secure port that speaks the protocol. The kernel is told to keep little of what comes
// and isn't read.
func (t *Target) dial(ctx context.Context, protocol string) (net.Conn, error) {
	u, err := url.Parse(t.Secure)
	if err != nil {
		return nil, err
	}
	small := func(_, _ string, c syscall.RawConn) (err error) {
		e := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(socket(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		})
		return errors.Join(e, err)
	}
	d := &tls.Dialer{NetDialer: &net.Dialer{Control: small}, Config: t.tls(protocol)}
	return d.DialContext(ctx, "tcp", u.Host)
}

const (
	namespaces = "/api/v1/namespaces"
	attacked   = namespaces + "/attack"
	rbac       = "/apis/rbac.authorization.k8s.io/v1"
	ordinary   = namespaces + "/other/configmaps/c"
)

// furnish makes the namespaces and rights of the users.
func (t *Target) furnish(ctx context.Context) error {
	c := t.client(admin, false)
	defer c.close()
	role := func(rules string) string { return `{"metadata":{"name":"own"},"rules":[` + rules + `]}` }
	binding := func(user string) string {
		return `{"metadata":{"name":"own"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"own"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"` + user + `"}]}`
	}
	for _, o := range [][2]string{
		{namespaces, `{"metadata":{"name":"attack"}}`},
		{namespaces, `{"metadata":{"name":"other"}}`},
		{namespaces + "/other/configmaps", `{"metadata":{"name":"c"},"data":{"k":"v"}}`},
		{rbac + "/namespaces/attack/roles", role(`{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}`)},
		{rbac + "/namespaces/attack/rolebindings", binding(attacker)},
		{rbac + "/namespaces/other/roles", role(`{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}`)},
		{rbac + "/namespaces/other/rolebindings", binding(other)},
	} {
		if err := c.make(ctx, o[0], o[1]); err != nil {
			return err
		}
	}
	u := t.client(other, false)
	defer u.close()
	return eventually(ctx, func() error { // an authorizer may follow the bindings from a cache
		a, err := u.send(ctx, Request{Method: "GET", Path: ordinary})
		if err == nil && a.Code == http.StatusForbidden {
			err = errors.New("the other user has no right yet")
		}
		return err
	})
}

// eventually tries until it succeeds or ctx ends.
func eventually(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond): // nothing tells a client that a type is served
		}
	}
}
