package filters

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestLoopbackHost(t *testing.T) {
	for host, want := range map[string]bool{
		"": true, "localhost": true, "localhost:8080": true, "127.0.0.1:8080": true, "127.9.9.9": true, "[::1]:8080": true,
		"[::1]":        true,
		"evil.example": false, "evil.example:8080": false, "10.0.0.1:8080": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false,
	} {
		if got := loopbackHost(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// TestForeign: a page of another site can't take a stream, whatever element it uses; a link to the page works.
func TestForeign(t *testing.T) {
	for _, c := range []struct {
		what, site, mode, dest string
		want                   bool
	}{
		{"a client that is no browser", "", "", "", false},
		{"an address that is typed in", "none", "navigate", "document", false},
		{"the page's own request", "same-origin", "cors", "empty", false},
		{"a link of another site", "cross-site", "navigate", "document", false},
		{"an image of another site", "cross-site", "no-cors", "image", true},
		{"a frame of another site", "cross-site", "navigate", "iframe", true},
		{"a request of another port of this machine", "same-site", "cors", "empty", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/kubecascade/v1/graph?follow=true", nil)
			for name, value := range map[string]string{
				"Sec-Fetch-Site": c.site, "Sec-Fetch-Mode": c.mode, "Sec-Fetch-Dest": c.dest,
			} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			served := false
			w := httptest.NewRecorder()
			r.Host = "127.0.0.1"
			OwnOrigin(slog.New(slog.DiscardHandler))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				served = true
			})).ServeHTTP(w, r)
			if Foreign(r) != c.want || served == c.want {
				t.Errorf("foreign %v, served %v, %d", Foreign(r), served, w.Code)
			}
		})
	}
}
