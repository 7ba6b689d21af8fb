package filters

import (
	"cmp"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

func TestLoopbackHost(t *testing.T) {
	for host, want := range map[string]bool{
		"": true, "localhost": true, "localhost:8080": true, "127.0.0.1:8080": true, "127.9.9.9": true, "[::1]:8080": true,
		"[::1]":        true,
		"evil.example": false, "evil.example:8080": false, "10.0.0.1:8080": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false,
	} {
		if got := render.Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// TestOtherSitesCanOnlyLink: a page of another site can't open a stream with any element, but a link to the page works.
func TestOtherSitesCanOnlyLink(t *testing.T) {
	for _, c := range []struct {
		what, headers string
		want          bool
	}{
		{"a client that is no browser", "", false},
		{"an address that is typed in", "Site: none, Mode: navigate, Dest: document", false},
		{"the page's own request", "Site: same-origin, Mode: cors, Dest: empty", false},
		{"the page's own request, in an old browser", "Origin: http://127.0.0.1", false},
		{"a link of another site", "Site: cross-site, Mode: navigate, Dest: document", false},
		{"an image of another site", "Site: cross-site, Mode: no-cors, Dest: image", true},
		{"a frame of another site", "Site: cross-site, Mode: navigate, Dest: iframe", true},
		{"an embedded object", "Site: cross-site, Mode: navigate, Dest: embed", true},
		{"an EventSource", "Site: cross-site, Mode: cors, Dest: empty, Origin: http://other.example", true},
		{"a WebSocket", "Origin: http://other.example, Upgrade: websocket, Connection: Upgrade", true},
		{"a request of a page in a sandbox", "Origin: null", true},
		{"a link that is loaded in advance", "Site: cross-site, Mode: no-cors, Dest: empty, Purpose: prefetch", true},
		{"a document that is loaded in advance",
			"Site: cross-site, Mode: navigate, Dest: document, Purpose: prefetch;prerender", true},
		{"a request of another port of this machine", "Site: same-site, Mode: cors, Dest: empty", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/kubecascade/v1/graph?follow=true", nil)
			setHeaders(r, c.headers)
			served := false
			w := httptest.NewRecorder()
			r.Host = "127.0.0.1"
			OwnOrigin(slog.New(slog.DiscardHandler))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				served = true
			})).ServeHTTP(w, r)
			if render.Foreign(r) != c.want || served == c.want {
				t.Errorf("foreign %v, served %v, %d", render.Foreign(r), served, w.Code)
			}
		})
	}
}

// setHeaders sets the headers that a browser adds, in the short form of the tests.
func setHeaders(r *http.Request, all string) {
	long := map[string]string{
		"Site": "Sec-Fetch-Site", "Mode": "Sec-Fetch-Mode", "Dest": "Sec-Fetch-Dest", "Purpose": "Sec-Purpose",
	}
	for h := range strings.SplitSeq(all, ", ") {
		if name, value, ok := strings.Cut(h, ": "); ok {
			r.Header.Set(cmp.Or(long[name], name), value)
		}
	}
}

// TestNoForeignCertificates: a page of another site can't use the browser's certificate.
func TestNoForeignCertificates(t *testing.T) {
	const other = "Site: cross-site, Mode: no-cors, Dest: empty"
	for _, c := range []struct {
		what, method, headers string
		certificate           bool
		want                  int
	}{
		{"kubectl", "POST", "", true, 200},
		{"the page", "DELETE", "Site: same-origin, Mode: cors, Dest: empty, Origin: https://127.0.0.1", true, 200},
		{"a link", "GET", "Site: cross-site, Mode: navigate, Dest: document", true, 200},
		{"another site's request", "POST", other, true, 403},
		{"another site's read", "GET", other, true, 403},
		{"another site's form", "POST", "Site: cross-site, Mode: navigate, Dest: document", true, 403},
		{"with a token that the other page has", "POST", other + ", Authorization: Bearer x", true, 200},
		{"without a certificate", "GET", other, false, 200},
		{"through a proxy", "POST", other + ", X-Forwarded-For: 192.0.2.1", true, 200},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "https://127.0.0.1/api/v1/namespaces", nil)
			if c.certificate {
				r.TLS.PeerCertificates = []*x509.Certificate{{}}
			}
			setHeaders(r, c.headers)
			w := httptest.NewRecorder()
			NoForeignCertificates(slog.New(slog.DiscardHandler))(http.HandlerFunc(
				func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%d, want %d", w.Code, c.want)
			}
		})
	}
}
