package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestInterruptCompletesRequestsThatCreate: of the requests in flight when a run is interrupted, those that create
// objects are completed, so that the objects to clean up are known.
func TestInterruptCompletesRequestsThatCreate(t *testing.T) {
	arrived, proceed := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		if r.Method == http.MethodPost {
			<-proceed
		} else {
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{}`)
	}))
	defer s.Close()
	c := &Client{URL: s.URL, HTTP: s.Client()}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			<-arrived
			interrupt()
			if method == http.MethodPost {
				proceed <- struct{}{}
			}
		}()
		a, err := c.do(ctx, method, "/", "", nil)
		if made := err == nil && a.Code == http.StatusCreated; made != (method == http.MethodPost) {
			t.Errorf("%s: %v, %v", method, a, err)
		}
		if _, err := c.do(ctx, method, "/", "", nil); err == nil {
			t.Errorf("%s: it was begun after the interrupt", method)
		}
	}
}
