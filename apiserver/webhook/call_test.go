package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// TestOnlyRetryAfterRepeatsCall: a call is repeated within its timeout if the response has this header (L-74).
func TestOnlyRetryAfterRepeatsCall(t *testing.T) {
	s := webhooktest.Start(t)
	busy := func(times int, code int, after string) webhooktest.Answer {
		return func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) {
			if times--; times < 0 {
				_, _ = w.Write([]byte("done"))
				return
			}
			if after != "" {
				w.Header().Set("Retry-After", after)
			}
			w.WriteHeader(code)
		}
	}
	for _, c := range []struct {
		name  string
		times int
		code  int
		after string
		calls int
		ok    bool
	}{
		{"twice", 2, 503, "0", 3, true},
		{"too often", 20, 429, "0", 11, false},
		{"not asked for", 1, 503, "", 1, false},
		{"no number", 1, 503, "later", 1, false},
		{"a client error", 1, 404, "0", 1, false},
	} {
		s.Script(busy(c.times, c.code, c.after))
		body, err := call(webhook.NewClients(nil), t.Context(), at(s.URL, s.CA), []byte("{}"))
		if calls := len(s.Seen()); calls != c.calls || (err == nil) != c.ok || c.ok && string(body) != "done" {
			t.Errorf("%s: %d calls, %v, %v", c.name, calls, body, err)
		}
	}
	s.Script(busy(1, 503, "60"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := call(webhook.NewClients(nil), ctx, at(s.URL, s.CA), []byte("{}"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("within less time: %v", err)
	}
}

// TestServiceIsCalledWithItsServerName: a service is called at the resolved address, with its own server name.
func TestServiceIsCalledWithItsServerName(t *testing.T) {
	s := webhooktest.Start(t)
	resolved := ""
	clients := webhook.NewClients(func(_ context.Context, namespace, name string, port int32) (string, error) {
		resolved = namespace + "/" + name
		if port != 443 {
			return "", errors.New("another port")
		}
		return strings.TrimPrefix(s.URL, "https://"), nil
	})
	config := at("", s.CA)
	config.Service = &admissionregistrationv1.ServiceReference{Namespace: "ns", Name: "svc", Path: new("/x")}
	_, err := call(clients, t.Context(), config, []byte("{}"))
	const wrongName = `Post "https://svc.ns.svc:443/x?timeout=30s": tls: failed to verify certificate: x509: ` +
		"certificate is valid for example.com, *.example.com, not svc.ns.svc"
	if resolved != "ns/svc" || err == nil || err.Error() != wrongName {
		t.Errorf("%s: %v", resolved, err)
	}
	config.Service.Port = new(int32(8443))
	_, err = call(clients, t.Context(), config, []byte("{}"))
	if want := `Post "https://svc.ns.svc:8443/x?timeout=30s": another port`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestEqualConfigurationsShareConnection: calls with the same configuration share a connection.
func TestEqualConfigurationsShareConnection(t *testing.T) {
	s := webhooktest.Start(t)
	clients := webhook.NewClients(nil)
	for range 3 {
		config := at(s.URL, s.CA)
		if _, err := call(clients, t.Context(), config, []byte(`{"request":{}}`)); err != nil {
			t.Fatal(err)
		}
	}
	peers := map[string]bool{}
	for _, seen := range s.Seen() {
		peers[seen.Peer] = true
	}
	if len(peers) != 1 {
		t.Errorf("%d connections", len(peers))
	}
}

// at returns the configuration of a webhook with a URL.
func at(url string, ca []byte) *webhook.Config {
	return &webhook.Config{WebhookClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: ca}}
}

// call calls a webhook and returns the body of its response.
func call(c *webhook.Clients, ctx context.Context, config *webhook.Config, document []byte) (body []byte, err error) {
	err = c.Call(ctx, config, document, nil, func(b []byte) error {
		body = bytes.Clone(b)
		return nil
	})
	return body, err
}
