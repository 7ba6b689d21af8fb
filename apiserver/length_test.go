package apiserver_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
)

// TestLargeAnswers: their length is told unless they are compressed, and the connection is used again after them.
func TestLargeAnswers(t *testing.T) {
	s := apiservertest.Start(t, nil)
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 600<<10)
	for i := range 8 {
		_, _ = random.Read(data) // it never fails
		must(t, s.Do("POST", configmaps, configmap("l"+strconv.Itoa(i), map[string]string{"k": base64.StdEncoding.EncodeToString(data)}, nil)), http.StatusCreated)
	}
	want := must(t, s.Do("GET", configmaps, nil), http.StatusOK).Body
	for _, c := range []struct {
		name                  string
		secure, http2, zipped bool
	}{
		{name: "plain"},
		{name: "TLS", secure: true},
		{name: "compressed", secure: true, zipped: true},
		{name: "HTTP/2", secure: true, http2: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			port := httptest.NewUnstartedServer(s.API.Insecure())
			var opened atomic.Int64
			port.EnableHTTP2 = c.http2
			port.Config.ConnContext = func(ctx context.Context, under net.Conn) context.Context {
				opened.Add(1)
				return exchange.ConnContext(ctx, under)
			}
			if c.secure {
				port.StartTLS()
			} else {
				port.Start()
			}
			t.Cleanup(port.Close)
			port.Client().Transport.(*http.Transport).DisableCompression = true
			req, err := http.NewRequest("GET", port.URL+configmaps, nil)
			if err != nil {
				t.Fatal(err)
			}
			if req.Header.Set("Accept-Encoding", "identity"); c.zipped {
				req.Header.Set("Accept-Encoding", "gzip")
			}
			res, err := port.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if (res.ProtoMajor == 2) != c.http2 {
				t.Error(res.Proto)
			}
			length, body := int64(len(want)), io.Reader(res.Body)
			if c.zipped {
				length = -1
				if body, err = gzip.NewReader(res.Body); err != nil {
					t.Fatal(err)
				}
			}
			got, err := io.ReadAll(body)
			if err != nil || !bytes.Equal(got, want) || res.ContentLength != length {
				t.Errorf("%d bytes, %v, of a length told as %d; want %d and %d", len(got), err, res.ContentLength, len(want), length)
			}
			small, err := port.Client().Get(port.URL + configmaps + "/none") // answered when the other is done with
			if err != nil || small.StatusCode != http.StatusNotFound {
				t.Fatalf("the next request: %v, %v", small, err)
			}
			defer small.Body.Close()
			if n := opened.Load(); n != 1 {
				t.Errorf("%d connections were opened", n)
			}
		})
	}
}
