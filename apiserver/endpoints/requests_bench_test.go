package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// sink discards a response.
type sink struct {
	h    http.Header
	code int
}

func (s *sink) Header() http.Header         { return s.h }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(code int)        { s.code = code }

// BenchmarkRequest measures requests from their headers to their responses, without a connection. Writes wait for etcd.
func BenchmarkRequest(b *testing.B) {
	s := apiservertest.Start(b, nil)
	h := s.API.Insecure()
	send := func(b *testing.B, method, path, media, body string, want int) {
		r, err := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		if body == "" {
			r.Body = http.NoBody
		}
		r.Header.Set("Content-Type", media)
		w := &sink{h: http.Header{}}
		if h.ServeHTTP(w, r); w.code != want && (w.code != 0 || want != http.StatusOK) {
			b.Fatal(method, path, w.code)
		}
	}
	const path = "/api/v1/namespaces/default/configmaps"
	configMap := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"a":"b"}},"data":{"k":%q}}`, name, strings.Repeat("x", 1024))
	}
	created := 0
	create := func(b *testing.B) {
		created++
		send(b, "POST", path, "application/json", configMap(fmt.Sprint("c", created)), http.StatusCreated)
	}
	for range 1000 {
		create(b)
	}
	for _, c := range []struct {
		name string
		f    func(*testing.B)
	}{
		{"get", func(b *testing.B) { send(b, "GET", path+"/c1", "", "", http.StatusOK) }},
		{"list", func(b *testing.B) { send(b, "GET", path+"?limit=1000", "", "", http.StatusOK) }},
		{"create", create},
		{"patch", func(b *testing.B) {
			created++
			send(
				b, "PATCH", path+"/c1", "application/merge-patch+json", fmt.Sprintf(`{"data":{"n":"%d"}}`, created), http.StatusOK,
			)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f(b)
			}
		})
	}
}
