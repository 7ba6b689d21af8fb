package flowcontrol

import (
	"context"
	"errors"
	"net/http"
	"sync"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Serve runs serve when the request has its seats, and holds them until it returns (AS
// pkg/server/filters/priority-and-fairness.go). w's headers show how the request was classified. Errors: serve's;
// status.ErrBusy if it gets no seats in time; that of the request's context.
func (l *Live) Serve(w http.ResponseWriter, r *http.Request, ask Request, serve func() error) (err error) {
	if l.handle(w, r.Context(), ask, func() { err = serve() }) {
		return err
	}
	return rejected(r.Context())
}

// ServeWatch is Serve for a watch, which holds its seats until it has sent its initial events: until serve calls begun,
// or returns.
func (l *Live) ServeWatch(w http.ResponseWriter, r *http.Request, ask Request, serve func(begun func()) error) error {
	if ask.Objects != nil { // a panic in the goroutine would end the process
		objects := ask.Objects()
		ask.Objects = func() int { return objects }
	}
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
	return serve(release)
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
