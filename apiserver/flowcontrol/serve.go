package flowcontrol

import (
	"context"
	"errors"
	"net/http"
	"sync"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Serve calls next when the request has its seats. It holds them until next returns or, for a watch, until Begun is
// called (AS pkg/server/filters/priority-and-fairness.go). The headers of w have the classification of the request. It
// returns an error if it has not called next: status.ErrBusy if the request gets no seats in time, or that of the
// request's context.
func (l *Live) Serve(w http.ResponseWriter, r *http.Request, need Request, next http.Handler) error {
	if need.Verb == "watch" {
		return l.serveWatch(w, r, need, next)
	}
	if !l.handle(w, r.Context(), need, func() { next.ServeHTTP(w, r) }) {
		return rejected(r.Context())
	}
	return nil
}

// begunKey is the context key of the function that Begun calls.
type begunKey struct{}

// Begun releases the seats of a watch that has sent its initial events.
func Begun(ctx context.Context) {
	if release, ok := ctx.Value(begunKey{}).(func()); ok {
		release()
	}
}

func (l *Live) serveWatch(w http.ResponseWriter, r *http.Request, need Request, next http.Handler) error {
	objects := need.Objects() // not in the goroutine, where a panic would end the process
	need.Objects = func() int { return objects }
	seated, begun, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		l.handle(w, r.Context(), need, func() {
			close(seated)
			<-begun
		})
	}()
	select {
	case <-seated:
	case <-ended:
		return rejected(r.Context())
	}
	release := sync.OnceFunc(func() {
		close(begun)
		<-ended
	})
	defer release()
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), begunKey{}, release)))
	return nil
}

// handle is Controller.Handle with the current objects of the cache.
func (l *Live) handle(w http.ResponseWriter, ctx context.Context, need Request, serve func()) bool {
	l.CatchUp()
	return l.controller.Handle(ctx, need, func(c Class) {
		if c.SchemaUID != "" && c.LevelUID != "" { // both are stored
			w.Header().Set(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID, string(c.SchemaUID))
			w.Header().Set(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID, string(c.LevelUID))
		}
	}, serve)
}

// rejected returns the error for a request without seats: the server is busy, or the request's time is over.
func rejected(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return status.ErrBusy
}
