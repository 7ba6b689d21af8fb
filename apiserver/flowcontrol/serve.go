package flowcontrol

import (
	"context"
	"errors"
	"net/http"
	"sync"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Serve calls next when the request has its seats, and holds them until it returns, or, for a watch, until it calls
// Begun (AS pkg/server/filters/priority-and-fairness.go). w's headers show how the request was classified. Errors, if
// next was not called: status.ErrBusy if the request gets no seats in time; that of its context.
func (l *Live) Serve(w http.ResponseWriter, r *http.Request, ask Request, next http.Handler) error {
	if ask.Verb == "watch" {
		return l.serveWatch(w, r, ask, next)
	}
	if !l.handle(w, r.Context(), ask, func() { next.ServeHTTP(w, r) }) {
		return rejected(r.Context())
	}
	return nil
}

// begunKey is the key of the function that Begun calls.
type begunKey struct{}

// Begun releases the seats of a watch that has sent its initial events.
func Begun(ctx context.Context) {
	if release, ok := ctx.Value(begunKey{}).(func()); ok {
		release()
	}
}

func (l *Live) serveWatch(w http.ResponseWriter, r *http.Request, ask Request, next http.Handler) error {
	objects := ask.Objects() // a panic in the goroutine would end the process
	ask.Objects = func() int { return objects }
	seated, begun, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		l.handle(w, r.Context(), ask, func() {
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

// handle is Controller.Handle by the objects that the cache has now.
func (l *Live) handle(w http.ResponseWriter, ctx context.Context, ask Request, serve func()) bool {
	l.CatchUp()
	return l.controller.Handle(ctx, ask, func(c Class) {
		if c.SchemaUID != "" && c.LevelUID != "" { // both are stored
			w.Header().Set(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID, string(c.SchemaUID))
			w.Header().Set(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID, string(c.LevelUID))
		}
	}, serve)
}

// rejected is why a request had no seats: the server is busy, or the request's own time is over.
func rejected(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return status.ErrBusy
}
