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

// Options are how backends are reached.
type Options struct {
	// Certificate returns the server's certificate for kubelets; nil for none.
	Certificate func() (*tls.Certificate, error)
	// Authorities verify the certificates of kubelets; nil does not verify them.
	Authorities *x509.CertPool
	// Dial and Lookup default to those of package net.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Proxy has the connections to backends. Its methods may be called from any goroutine.
type Proxy struct {
	// Kubelets authenticates the server. Insecure is the same, and does not verify the kubelet's certificate. Network
	// is for everything else; certificates are not verified.
	Kubelets, Insecure, Network *http.Transport

	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// New returns a Proxy. It connects when it is used.
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

// Target is where a request is forwarded.
type Target struct {
	// URL has the path; the query is the request's, unless the request is an upgrade.
	URL       *url.URL
	Transport http.RoundTripper
	// Rewrite rewrites redirects and the links in HTML to the path of the request, and adds headers X-Forwarded-.
	Rewrite bool
	// UpgradeRequired rejects requests that are no upgrade, RejectRedirects responses that are redirects.
	UpgradeRequired, RejectRedirects bool
	// Fail answers a request that can't be forwarded.
	Fail func(http.ResponseWriter, *http.Request, error)
}

// Error implements proxy.ErrorResponder.
func (t *Target) Error(w http.ResponseWriter, r *http.Request, err error) { t.Fail(w, r, err) }

// Forward forwards a request of any method, with its headers and its body, which it streams, and upgrades.
func Forward(w http.ResponseWriter, r *http.Request, t *Target) {
	u := &upgradable{ResponseWriter: w, ctx: r.Context()}
	defer u.release()
	if httpstream.IsUpgradeRequest(r) {
		t = t.bound()
	}
	if b, ok := r.Body.(interface{ Stream() io.ReadCloser }); ok { // the limits of bodies that are kept (filters.Body)
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

// maxPage bounds a page in HTML whose links are rewritten, which happens in memory.
const maxPage = 8 << 20

// pages is a transport that bounds pages. It requests no compression: a small page may be a large one compressed.
type pages struct{ http.RoundTripper }

// WrappedRoundTripper is for upgrades, which look for the dialer.
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

// bound returns the target for a request that is upgraded: the connection to the backend ends with the request, though
// the backend may not have answered yet.
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

// upgradable is a response whose connection, once it is upgraded, ends with the context: net/http does not know the
// connection any more.
type upgradable struct {
	http.ResponseWriter
	ctx  context.Context
	stop func() bool
}

// Unwrap is for http.ResponseController.
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
