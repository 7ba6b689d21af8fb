package cluster

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/gc/explain"
)

// silent is a server that answers nothing.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSilentServer: a watch without a response is abandoned, reported, and sent again.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{URL: "http://silent.example", HTTP: &http.Client{Transport: silent{}}}
		d := &Discovery{Resources: []*Resource{{
			Resource: explain.Resource{Versions: []string{"v1"}, Kind: "Pod", Plural: "pods"}, Listed: true,
		}}}
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
		defer cancel()
		var stale []string
		err := c.Watch(ctx, d, func(e Event) error {
			stale = append(stale, e.Stale)
			return nil
		})
		if err == nil || len(stale) == 0 || stale[0] != "pods" {
			t.Errorf("%v, %q", err, stale)
		}
	})
}

// TestSilentAggregatedServers: all lists of a question end at the same time.
func TestSilentAggregatedServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cached{
			Server: &Server{Authorizer: func() authorization.Authorizer { return authorization.AlwaysAllow{} }},
			others: &Client{URL: "http://silent.example", HTTP: &http.Client{Transport: silent{}}},
			late:   time.Now().Add(otherTime),
		}
		began := time.Now()
		far := &Resource{Resource: explain.Resource{Versions: []string{"v1"}, Plural: "far"}, Elsewhere: true}
		for range 3 {
			if err := c.List(t.Context(), far, Selector{}, nil); err == nil {
				t.Error("no error")
			}
		}
		if took := time.Since(began); took != otherTime {
			t.Error(took)
		}
	})
}
