package cluster

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// expiring is a cluster of which every watch has expired after a time. discovered is the number of times that it was
// read.
type expiring struct {
	*Client
	after      time.Duration
	discovered int
}

func (e *expiring) Discover(context.Context) (*Discovery, error) {
	e.discovered++
	return &Discovery{}, nil
}

func (e *expiring) Watch(ctx context.Context, _ *Discovery, _ func(Event) error) error {
	sleep(ctx, e.after)
	return errExpired
}

// unlimited is the writer of a response whose client reads everything.
type unlimited struct{ *httptest.ResponseRecorder }

func (unlimited) SetWriteDeadline(time.Time) error { return nil }

// TestExpiredWatch: a cluster whose watches expire at once is not listed again and again; one whose watches last a while
// is read again soon.
func TestExpiredWatch(t *testing.T) {
	for _, after := range []time.Duration{0, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := &expiring{after: after}
			s := newService(func(*http.Request) (Source, error) { return e, nil })
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			w := unlimited{httptest.NewRecorder()}
			s.graph(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
			if w.Code != http.StatusOK || e.discovered < 20 || e.discovered > 30 {
				t.Errorf("watches of %s: %d, the cluster was read %d times in 10 minutes", after, w.Code, e.discovered)
			}
		})
	}
}
