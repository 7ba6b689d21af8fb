package loopback_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// slow is a conversion webhook that answers no review until it opens, and reports how calls end before.
type slow struct {
	*webhook
	asked, ended chan struct{}
	open         chan struct{}
}

func startSlow(t *testing.T) *slow {
	w := &slow{&webhook{}, make(chan struct{}, 100), make(chan struct{}, 100), make(chan struct{})}
	fast := w.webhook
	w.Server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var in review
		if json.NewDecoder(r.Body).Decode(&in) != nil { // else the server does not notice that the client goes away
			return
		}
		w.asked <- struct{}{}
		select {
		case <-w.open:
			fast.answer(rw, &in)
		case <-r.Context().Done():
			w.ended <- struct{}{}
		}
	}))
	t.Cleanup(w.Close)
	return w
}

// TestConversionEnds: a call of a conversion webhook ends with its request, by the request's timeout or because its
// client goes away.
func TestConversionEnds(t *testing.T) {
	s, hook := defined(t, nil), startSlow(t)
	define(t, s, routes(hook.config()))
	s.Do("POST", v1widgets, widgetA)
	for _, r := range [][2]string{
		{"GET", v2widgets + "/a?timeout=1s"}, {"GET", v2widgets + "?timeout=1s"}, {"PATCH", v2widgets + "/a?timeout=1s"},
	} {
		a := s.Do(r[0], r[1], `{"spec":{"port":3}}`)
		if st := a.Status(); a.Code != http.StatusGatewayTimeout || st.Reason != metav1.StatusReasonTimeout {
			t.Errorf("%v: %d %s", r, a.Code, a.Body)
		}
		<-hook.asked
		<-hook.ended
	}
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL+v2widgets+"/a", nil)
		if err == nil {
			_, err = http.DefaultClient.Do(r) // there is no response
		}
		gone <- err
	}()
	<-hook.asked
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-hook.ended
}
