package webhook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// sized answers with so many bytes, in chunks without a Content-Length if chunked.
func sized(bytes int, chunked bool) webhooktest.Answer {
	return func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) {
		if w.Header().Set("Content-Length", strconv.Itoa(bytes)); chunked {
			w.Header().Del("Content-Length")
			_ = http.NewResponseController(w).Flush() // an error shows up in the write
		}
		_, _ = io.WriteString(w, strings.Repeat("x", bytes)) // the client may hang up
	}
}

// TestMaxBody: a response of MaxBody bytes is read whole, a larger one is an error.
func TestMaxBody(t *testing.T) {
	s := webhooktest.Start(t)
	clients, config := webhook.NewClients(nil), &webhook.Config{URL: s.URL, CABundle: s.CA}
	for _, chunked := range []bool{false, true} {
		for _, bytes := range []int{1, 64 << 10, 64<<10 + 1, 128 << 10, 128<<10 + 1, webhook.MaxBody, webhook.MaxBody + 1} {
			s.Script(sized(bytes, chunked))
			body, err := clients.Call(t.Context(), config, []byte("{}"), nil)
			switch {
			case bytes > webhook.MaxBody:
				if err == nil || err.Error() != "the response is larger than 16 MiB" {
					t.Errorf("%d bytes, chunked %v: %v", bytes, chunked, err)
				}
			case err != nil || len(body.Data) != bytes:
				t.Errorf("%d bytes, chunked %v: %v", bytes, chunked, err)
			}
			body.Release()
			if held := clients.Memory().Held; held != 0 {
				t.Errorf("%d bytes, chunked %v: %d bytes of memory are held after the release", bytes, chunked, held)
			}
		}
	}
}

// TestMemory: large responses share the memory until they are released. One that finds none waits as long as its call
// may last; small ones, and those of other hosts, do not wait.
func TestMemory(t *testing.T) {
	large, other := webhooktest.Start(t), webhooktest.Start(t)
	clients := webhook.NewClients(nil)
	large.Script(sized(webhook.MaxBody, true))
	large.ScriptPath("/small", sized(1000, true))
	other.Script(sized(1<<20, true))
	call := func(ctx context.Context, s *webhooktest.Server, path string) (*webhook.Body, error) {
		return clients.Call(ctx, &webhook.Config{URL: s.URL + path, CABundle: s.CA}, []byte("{}"), nil)
	}
	first, err := call(t.Context(), large, "/")
	if err != nil {
		t.Fatal(err)
	}
	next, waits := make(chan error, 1), make(chan struct{}, 1)
	clients.OnFull(func() { waits <- struct{}{} })
	begin := func(ctx context.Context) {
		go func() {
			body, err := call(ctx, large, "/")
			body.Release()
			next <- err
		}()
		select {
		case <-waits:
		case err := <-next:
			t.Fatalf("a large response that finds no memory: %v", err)
		}
	}
	ends, end := context.WithCancel(t.Context())
	begin(ends)
	end()
	if err := <-next; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "no memory for a large") {
		t.Errorf("a second large response: %v", err)
	}
	small, err := call(t.Context(), large, "/small")
	if err != nil {
		t.Errorf("a small response: %v", err)
	}
	small.Release()
	elsewhere, err := call(t.Context(), other, "/")
	if err != nil {
		t.Errorf("a response of another host: %v", err)
	}
	elsewhere.Release()
	begin(t.Context())
	first.Release()
	if err := <-next; err != nil {
		t.Errorf("after the release: %v", err)
	}
	if held := clients.Memory().Held; held != 0 {
		t.Errorf("%d bytes of memory are held at the end", held)
	}
}
