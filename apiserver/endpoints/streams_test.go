package endpoints_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/pki"
)

// frames is an HTTP/2 connection on which the client allows the server to send no data (a window of 0).
type frames struct {
	t *testing.T
	net.Conn
	f *http2.Framer
	// codes receives the status codes of responses. It is closed when the connection ends.
	codes chan string
}

// openFrames connects to the secure port, as a user by a token.
func openFrames(t *testing.T, s *apiservertest.Secured) *frames {
	t.Helper()
	certificates, err := pki.Ensure(pki.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, err := certificates.TLS(pki.TLSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config.NextProtos = []string{"h2"}
	port := &http.Server{Handler: s.API.Handler(), TLSConfig: config}
	served := make(chan error, 1)
	go func() { served <- port.ServeTLS(ln, "", "") }()
	t.Cleanup(func() {
		_ = port.Close()
		<-served
	})
	under, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = under.Close() })
	c := &frames{t: t, Conn: under, f: http2.NewFramer(under, under), codes: make(chan string, 1000)}
	_, err = io.WriteString(under, http2.ClientPreface)
	if err == nil {
		err = c.f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	}
	if err != nil {
		t.Fatal(err)
	}
	go c.read()
	return c
}

// read reads the headers of responses.
func (c *frames) read() {
	defer close(c.codes)
	dec := hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == ":status" {
			c.codes <- f.Value
		}
	})
	for {
		frame, err := c.f.ReadFrame()
		if err != nil {
			return
		}
		if head, ok := frame.(*http2.HeadersFrame); ok {
			_, _ = dec.Write(head.HeaderBlockFragment()) // a header block that can't be decoded has no status
		}
	}
}

// request sends the headers of a request. If length is empty, it ends the stream.
func (c *frames) request(id uint32, method, path, length string) {
	c.t.Helper()
	if err := c.send(id, method, path, length); err != nil {
		c.t.Fatal(err)
	}
}

// send is request on a connection that the server may have closed.
func (c *frames) send(id uint32, method, path, length string) error {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	head := [][2]string{
		{":method", method}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path},
		{"authorization", "Bearer alice-token"},
	}
	if length != "" {
		head = append(head, [2]string{"content-type", "application/json"}, [2]string{"content-length", length})
	}
	for _, h := range head {
		if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			return err
		}
	}
	return c.f.WriteHeaders(
		http2.HeadersFrameParam{StreamID: id, EndStream: length == "", EndHeaders: true, BlockFragment: b.Bytes()})
}

// TestBodyWithoutEnd: a request whose Content-Length is 0, or not a number, may have a body or not. The server waits
// for this body no longer than for others.
func TestBodyWithoutEnd(t *testing.T) {
	s := apiservertest.StartSecured(t, func(c *apiserver.Config) { c.RequestTimeout = time.Second })
	c := openFrames(t, s)
	for i, length := range []string{"0", "x", "7"} {
		c.request(uint32(2*i+1), "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", length)
		if code := <-c.codes; code != "504" {
			t.Errorf("length %s: %q", length, code)
		}
	}
}

// TestUnflushedWatch: a watch whose client does not read ends after the write timeout of its last event, not with the
// next event.
func TestUnflushedWatch(t *testing.T) {
	s := apiservertest.StartSecured(t, func(c *apiserver.Config) { c.WriteTimeout = 200 * time.Millisecond })
	s.Grant("alice", "", "watcher", `[{"verbs":["watch"],"apiGroups":[""],"resources":["configmaps"]}]`)
	s.Settle()
	c := openFrames(t, s)
	c.request(1, "GET", configmaps+"?watch=1", "")
	if code := <-c.codes; code != "200" {
		t.Fatal(code)
	}
	must(t, s.Do("POST", configmaps, configmap("a", nil, nil)), http.StatusCreated)
	await(t, s.Server, `apiserver_longrunning_requests{`, "0", func(n float64) bool { return n == 0 })
}

// await waits until a metric meets a condition.
func await(t *testing.T, s *apiservertest.Server, name, what string, is func(float64) bool) {
	t.Helper()
	for n := metric(t, s, name); !is(n); n = metric(t, s, name) {
		if t.Context().Err() != nil {
			t.Fatalf("%s: %v, never %s", name, n, what)
		}
	}
}
