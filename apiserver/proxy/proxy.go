package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/streaming/pkg/httpstream"
)

// Options configure the connections to backends.
type Options struct {
	// Certificate returns the server's client certificate for kubelets. It may be nil.
	Certificate func() (*tls.Certificate, error)
	// Authorities verify the certificates of kubelets. If it is nil, they are not verified.
	Authorities *x509.CertPool
	// Dial and Lookup default to the functions of package net.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Proxy has the connections to backends. Its methods may be called from any goroutine.
type Proxy struct {
	// Kubelets authenticates the server to kubelets. Insecure does the same, but does not verify the kubelet's
	// certificate. Network is for all other backends, and does not verify certificates.
	Kubelets, Insecure, Network *http.Transport

	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// New returns a Proxy. It opens connections when they are needed.
func New(o Options) *Proxy {
	if o.Lookup == nil {
		o.Lookup = net.DefaultResolver.LookupNetIP
	}
	if o.Dial == nil { // AS client-go transport/cache.go: get
		o.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	transport := func(c *tls.Config) *http.Transport {
		return utilnet.SetTransportDefaults(&http.Transport{DialContext: o.Dial, TLSClientConfig: c})
	}
	kubelets := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Authorities, InsecureSkipVerify: o.Authorities == nil}
	if o.Certificate != nil {
		kubelets.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return o.Certificate() }
	}
	insecure := kubelets.Clone()
	insecure.InsecureSkipVerify = true
	return &Proxy{
		Kubelets: transport(kubelets), Insecure: transport(insecure),
		Network: transport(&tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}), lookup: o.Lookup,
	}
}

// Close closes idle connections.
func (p *Proxy) Close() {
	for _, t := range []*http.Transport{p.Kubelets, p.Insecure, p.Network} {
		t.CloseIdleConnections()
	}
}

// Public returns an error 400 if a host has an address that is not global (K pkg/proxy/util/utils.go:
// IsProxyableHostname, IsProxyableIP).
func (p *Proxy) Public(ctx context.Context, host string) error {
	all, err := p.lookup(ctx, "ip", host)
	if err == nil && len(all) == 0 {
		err = errors.New("no addresses for hostname")
	}
	for _, a := range all {
		if err == nil && !net.IP(a.Unmap().AsSlice()).IsGlobalUnicast() {
			err = errors.New("address not allowed")
		}
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// Target is the backend of a request.
type Target struct {
	// URL has the path. The query is that of the request, unless the request is an upgrade.
	URL       *url.URL
	Transport http.RoundTripper
	// Rewrite rewrites redirects and the links in HTML to the path of the request, and adds the headers X-Forwarded-*.
	Rewrite bool
	// UpgradeRequired rejects requests that are not upgrades. RejectRedirects rejects responses that are redirects.
	UpgradeRequired, RejectRedirects bool
	// Fail responds to a request that can't be forwarded.
	Fail func(http.ResponseWriter, *http.Request, error)
}

// Error implements proxy.ErrorResponder.
func (t *Target) Error(w http.ResponseWriter, r *http.Request, err error) { t.Fail(w, r, err) }

// Forward forwards a request of any method, including upgrades. It streams the body.
func Forward(w http.ResponseWriter, r *http.Request, t *Target) {
	u := &upgradable{ResponseWriter: w, ctx: r.Context()}
	defer u.release()
	if httpstream.IsUpgradeRequest(r) {
		t = t.bound()
	}
	if b, ok := r.Body.(interface{ Stream() io.ReadCloser }); ok { // removes the limits of filters.Body
		r.Body = b.Stream()
	}
	transport := t.Transport
	if t.Rewrite {
		transport = pages{transport}
	}
	h := proxy.NewUpgradeAwareHandler(t.URL, transport, t.Rewrite, t.UpgradeRequired, t)
	h.RejectForwardingRedirects = t.RejectRedirects
	h.ServeHTTP(u, r)
}

// maxPage limits the size of an HTML page whose links are rewritten in memory.
const maxPage = 8 << 20

// pages is a transport that limits the size of HTML pages. It requests no compression, which would hide the size.
type pages struct{ http.RoundTripper }

// WrappedRoundTripper returns the transport to the code for upgrades, which needs its dialer.
func (p pages) WrappedRoundTripper() http.RoundTripper { return p.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p pages) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "identity")
	a, err := p.RoundTripper.RoundTrip(r)
	if err != nil || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
		return a, err
	}
	if a.Header.Get("Content-Encoding") != "" {
		_ = a.Body.Close()
		return nil, errors.New("the page is compressed, which was not requested")
	}
	a.Body = http.MaxBytesReader(nil, a.Body, maxPage)
	return a, nil
}

// bound returns the target for a request that is upgraded. The connection to the backend ends with the request, even if
// the backend has not responded yet.
func (t *Target) bound() *Target {
	transport, ok := t.Transport.(*http.Transport)
	if !ok || transport.DialContext == nil {
		return t
	}
	own := transport.Clone()
	own.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := transport.DialContext(ctx, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = c.Close() })
		}
		return c, err
	}
	to := *t
	to.Transport = own
	return &to
}

// upgradable is a response whose connection ends with the context after an upgrade, because net/http no longer tracks
// the connection.
type upgradable struct {
	http.ResponseWriter
	ctx  context.Context
	stop func() bool
}

// Unwrap returns the original writer to http.ResponseController.
func (u *upgradable) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// Hijack implements http.Hijacker.
func (u *upgradable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffered, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err == nil {
		u.stop = context.AfterFunc(u.ctx, func() { _ = c.Close() })
	}
	return c, buffered, err
}

func (u *upgradable) release() {
	if u.stop != nil {
		u.stop()
	}
}
