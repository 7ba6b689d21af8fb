package inflight

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Ask is what a request asks for a seat by.
type Ask struct {
	Attributes *authorization.Attributes
	// Objects tells how many objects the request may show; nil for requests of one seat.
	Objects func() int
}

// Seat runs serve when the request has its seat, by API Priority and Fairness
// (AS pkg/server/filters/priority-and-fairness.go). w's headers tell how the request was classified. Errors: serve's;
// those of Wait; 429 if the request gets no seat in time.
func (l *Limits) Seat(w http.ResponseWriter, r *http.Request, ask Ask, serve func() error) (err error) {
	rec := exchange.Of(r)
	if err := l.TakeTurn(r); err != nil {
		return err
	}
	ok := l.flow.Handle(r.Context(), l.request(w, rec, ask), func(seat *flowcontrol.Seat) {
		rec.Sit(seat)
		if !rec.ServeHead() {
			err = status.ErrBusy
			return
		}
		err = serve()
	})
	if !ok {
		return rejected(r.Context())
	}
	return err
}

// SeatWatch is Seat for a watch, which gives its seat back when it has sent its initial events: serve holds it until it
// calls begun, or returns.
func (l *Limits) SeatWatch(w http.ResponseWriter, r *http.Request, ask Ask, serve func(begun func()) error) error {
	seated, begun, ended := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	rec := exchange.Of(r)
	if err := l.TakeTurn(r); err != nil {
		return err
	}
	ctx, request := r.Context(), l.request(w, rec, ask)
	go func() {
		ended <- l.flow.Handle(ctx, request, func(seat *flowcontrol.Seat) {
			rec.Sit(seat)
			close(seated)
			<-begun
		})
	}()
	select {
	case <-seated:
	case <-ended:
		return rejected(ctx)
	}
	giveBack := sync.OnceFunc(func() {
		close(begun)
		<-ended
		rec.Sit(nil)
	})
	defer giveBack()
	return serve(giveBack)
}

// request makes what a seat is asked for by. The flow schemas in force are up to date with the cache.
func (l *Limits) request(w http.ResponseWriter, rec *exchange.Recorder, ask Ask) flowcontrol.Request {
	l.flows.CatchUp()
	return flowcontrol.Request{
		Attributes: ask.Attributes, Objects: ask.Objects, Classified: shownIn(w.Header()), Waits: rec.EndTurn,
	}
}

// The headers that tell how a request was classified, in the form that http.Header has.
var (
	schemaHeader = http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID)
	levelHeader  = http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID)
)

// shownIn returns what tells the client how its request was classified.
func shownIn(h http.Header) func(flowcontrol.Class) {
	return func(c flowcontrol.Class) {
		if c.SchemaUID != "" && c.LevelUID != "" { // both are stored
			h[schemaHeader], h[levelHeader] = []string{string(c.SchemaUID)}, []string{string(c.LevelUID)}
		}
	}
}

// rejected is why a request had no seat: the server is busy, or the request's own time is over.
func rejected(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return status.ErrBusy
}

// Await runs wait, in which a request only waits for webhooks, while its seat and memory are lent. Errors are API
// errors: 429 if too many requests of its user wait; that of ctx, if the request does not get its memory back before
// ctx ends.
func (l *Limits) Await(ctx context.Context, wait func()) error {
	err := exchange.In(ctx).Await(ctx, wait)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flowcontrol.ErrFull):
		return status.Error(status.ErrBusy)
	}
	return status.Error(cmp.Or(ctx.Err(), err))
}
