package aggregator_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

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

// TestErrorsAreThoseBehindAnAggregator: client-go has the errors that it has behind one. The code 0 means that nothing
// listens, available is empty without an APIService.
func TestErrorsAreThoseBehindAnAggregator(t *testing.T) {
	for _, c := range []struct {
		available, body, want string
		code                  int
	}{
		{"True", "{}", "<nil>", 200},
		{"", "{}", "the server could not find the requested resource", 200},
		{"False", "{}", "the server is currently unable to handle the request", 200},
		{"True", "", "the server is currently unable to handle the request", 0},
		{"True", "busy\n", "the server is currently unable to handle the request", 503},
		{"True", "404 page not found\n", "the server could not find the requested resource", 404},
		{"True", "oops\n", `an error on the server ("oops") has prevented the request from succeeding`, 500},
		{"True", `{"kind":"Status","status":"Failure","message":"no"}`, "no", 403},
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/apis/g/v1/things" {
				t.Error(r.URL.Path)
			}
			if strings.HasPrefix(c.body, "{") {
				w.Header().Set("Content-Type", "application/json")
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
		config := rest.Config{Host: "https://any", ContentConfig: rest.ContentConfig{
			NegotiatedSerializer: scheme.Codecs.WithoutConversion()}}
		client, err := rest.UnversionedRESTClientForConfigAndClient(&config, a.Client(user.DefaultInfo{}))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(client.Get().AbsPath("/apis/g/v1/things").Do(t.Context()).Error()); got != c.want {
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
