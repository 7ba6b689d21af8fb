package aggregator_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecascade/kubecascade/apiserver/aggregator"
)

// with returns an aggregator with an APIService, which has a condition Available; without it, there is none.
func with(
	available string, resolve func(context.Context, string, string, int32) (string, error),
) *aggregator.Aggregator {
	return aggregator.New(aggregator.Config{
		Names: func() []string { return []string{"v1.g"} },
		Get: func(string) ([]byte, int64) {
			if available == "" {
				return nil, 0
			}
			return []byte(`{"spec":{"group":"g","version":"v1","insecureSkipTLSVerify":true,"service":{"name":"s"}},` +
				`"status":{"conditions":[{"type":"Available","status":"` + available + `"}]}}`), 1
		},
		Resolve: resolve, Now: time.Now,
	})
}

// TestErrorsOfDo: they are those of client-go behind an aggregator. The code 0 means that nothing listens, available is
// empty without an APIService.
func TestErrorsOfDo(t *testing.T) {
	for _, c := range []struct {
		available  string
		code       int
		body, path string
		want       string
	}{
		{"True", 200, "{}", "pods", "<nil>"},
		{"", 200, "{}", "pods", "the server could not find the requested resource (get pods.g)"},
		{"False", 200, "{}", "pods", "the server is currently unable to handle the request (get pods.g)"},
		{"True", 0, "", "pods/*/hits", "the server is currently unable to handle the request (get pods.g *)"},
		{"True", 503, "busy\n", "pods/*/hits", "the server is currently unable to handle the request (get pods.g *)"},
		{"True", 404, "404 page not found\n", "hits", "the server could not find the requested resource (get hits.g)"},
		{"True", 500, "oops\n", "jobs.batch/j/hits",
			`an error on the server ("oops") has prevented the request from succeeding (get jobs.batch.g j)`},
		{"True", 403, `{"kind":"Status","status":"Failure","message":"no"}`, "pods", "no"},
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if want := "/apis/g/v1/namespaces/n/" + c.path; r.URL.Path != want {
				t.Errorf("%s, want %s", r.URL.Path, want)
			}
			w.WriteHeader(c.code)
			_, _ = io.WriteString(w, c.body)
		}))
		if c.code == 0 {
			server.Close()
		}
		a := with(c.available, func(context.Context, string, string, int32) (string, error) {
			return server.Listener.Addr().String(), nil
		})
		_, err := a.Do(t.Context(), user.DefaultInfo{}, "GET", schema.GroupVersion{Group: "g", Version: "v1"},
			url.URL{Path: "/namespaces/n/" + c.path}, "", nil)
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
		server.Close()
	}
}

// TestCloseEndsReads: the end of a server does not wait for a server that does not respond.
func TestCloseEndsReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := with("True", func(ctx context.Context, _, _ string, _ int32) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		began := time.Now()
		go func() {
			synctest.Wait()
			a.Close()
		}()
		if _, stale := a.Resources(); len(stale) != 1 || time.Since(began) > 0 {
			t.Errorf("%v after %v", stale, time.Since(began))
		}
	})
}

// TestServerGetsUserAndCannotRedirect: a server gets the user and the header Accept, and can't redirect a request.
func TestServerGetsUserAndCannotRedirect(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		got := fmt.Sprint(h["X-Remote-User"], h["Accept"], h["Authorization"], h["X-Remote-Group"])
		if got != "[u] [a/b] [] []" {
			t.Error(got)
		}
		http.Redirect(w, r, "/apis/other/v1/secrets", http.StatusFound)
	}))
	defer server.Close()
	a := with("True", func(context.Context, string, string, int32) (string, error) {
		return server.Listener.Addr().String(), nil
	})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "https://any/apis/g/v1/things", nil)
	r.RequestURI = ""
	r.Header = http.Header{"Accept": {"a/b"}, "Authorization": {"x"}, "X-Remote-Group": {"system:masters"}}
	response, err := a.Client(user.DefaultInfo{Name: "u"}).Do(r)
	if err != nil || response.StatusCode != http.StatusFound {
		t.Fatal(response, err)
	}
	_ = response.Body.Close()
}
