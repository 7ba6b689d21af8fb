package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
)

// client sends requests of an administrator with net/http, without the libraries of Kubernetes.
type client struct {
	http      *http.Client
	transport *http.Transport
	url       string
}

type protocol string

const (
	// http1 uses one connection for each concurrent request.
	http1 protocol = "HTTP/1.1"
	// http2 uses one connection, or more if the server's limit of streams is reached.
	http2 protocol = "HTTP/2"
)

func (s *server) client(p protocol) (*client, error) {
	config, err := rest.TLSConfigFor(s.config)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: p == http2, MaxIdleConnsPerHost: 1024,
		DisableCompression: true}
	authenticated, err := rest.HTTPWrappersForConfig(s.config, t)
	return &client{&http.Client{Transport: authenticated}, t, s.config.Host}, err
}

// outside makes the client connect from an address that is not a loopback address, because the server does not compress
// responses to clients on the loopback interface.
func (c *client) outside() error {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			c.transport.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: n.IP}}).DialContext
			return nil
		}
	}
	return errors.New("this machine has no address but that of the loopback interface")
}

func (c *client) close() { c.transport.CloseIdleConnections() }

type request struct {
	method, path, body string
	// media is the type of the body, accept that of the response. The default is JSON.
	media, accept string
	// gzip requests a compressed response.
	gzip bool
}

const (
	asJSON       = "application/json"
	asProtobuf   = "application/vnd.kubernetes.protobuf"
	asTable      = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asMetadata   = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	asMergePatch = "application/merge-patch+json"
	asApply      = "application/apply-patch+yaml"
)

// failure is the error for a response with a status code of 400 or higher.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

// open sends a request. The caller closes the body of the response.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", asJSON)
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	if r.body != "" {
		req.Header.Set("Content-Type", asJSON)
	}
	if r.media != "" {
		req.Header.Set("Content-Type", r.media)
	}
	if r.gzip {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10)) // only for the message
		return nil, &failure{res.StatusCode, fmt.Sprintf("%s %s: %s: %s", r.method, r.path, res.Status, text)}
	}
	return res, nil
}

func (c *client) read(ctx context.Context, r request) ([]byte, error) {
	res, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

func (c *client) send(ctx context.Context, r request) error {
	res, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if r.gzip && res.Header.Get("Content-Encoding") != "gzip" {
		return fmt.Errorf("%s %s: the response is not compressed", r.method, r.path)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// create creates an object with a value for a key of its data.
func (c *client) create(ctx context.Context, k kind, namespace, name, key, value string) error {
	return c.send(ctx, request{method: "POST", path: k.path(namespace), body: k.object(name, key, value)})
}

// watch opens a watch, and calls each with every event as JSON, until it returns false. It then sends nil or an error
// to the channel.
func (c *client) watch(ctx context.Context, path string, each func(event []byte) bool) (<-chan error, error) {
	res, err := c.open(ctx, request{method: "GET", path: path})
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if !each(lines.Bytes()) {
				done <- nil
				return
			}
		}
		done <- fmt.Errorf("watching %s: %w", path, cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
	}()
	return done, nil
}

// count opens a watch that ends after n events of a type.
func (c *client) count(ctx context.Context, path, change string, n int) (<-chan error, error) {
	prefix := []byte(`{"type":"` + change)
	return c.watch(ctx, path, func(event []byte) bool {
		if bytes.HasPrefix(event, prefix) {
			n--
		}
		return n > 0
	})
}
