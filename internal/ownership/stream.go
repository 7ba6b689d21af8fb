package ownership

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	// MostStreams is how many streams of the graph are open at a time.
	MostStreams = 32
	// streamPause is the least time between two messages, so that changes which come fast share one.
	streamPause = 100 * time.Millisecond
	// streamTime is how long a stream lasts. The client then asks again, and is authorized again.
	streamTime = 15 * time.Minute
)

// stream is one stream of the graph. Only its handler's goroutine uses it.
type stream struct {
	*Service
	r         *http.Request
	out       *ui.Writer
	namespace string
	past      bool
	// table and source are those of the state that was sent last; total is how many objects the client has.
	table  *table
	source *source
	total  int
}

// graph serves the objects and their changes, as ui.Messages.
func (s *Service) graph() http.HandlerFunc {
	open := make(chan struct{}, MostStreams)
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case open <- struct{}{}:
			defer func() { <-open }()
		default:
			render.Error(s.config.Log, w, r, apierrors.NewTooManyRequests("too many streams of the graph are open", 5))
			return
		}
		if err := s.stream(w, r); err != nil {
			render.Error(s.config.Log, w, r, err)
		}
	}
}

// stream returns an error only if the response has not begun.
func (s *Service) stream(w http.ResponseWriter, r *http.Request) error {
	q := requestinfo.Query(r)
	for name := range q {
		if name != "namespace" && name != "past" {
			return status.BadRequest("unknown query parameter %q", name)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	if t := s.config.Life; t != nil {
		defer context.AfterFunc(t, cancel)()
	}
	t := &stream{Service: s, r: r.WithContext(ctx), namespace: q.Get("namespace"), past: q.Get("past") == "true"}
	watcher, messages, err := t.begin()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", codec.MediaJSON+";stream=lines")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	t.out = ui.NewWriter(w)
	_ = t.run(ctx, watcher, messages)
	return nil // the client is gone, or asks again
}

// run sends messages, until the client is gone or the stream ends.
func (t *stream) run(ctx context.Context, watcher *cache.Watcher, messages []ui.Message) error {
	beat := time.NewTicker(ui.Beat)
	defer beat.Stop()
	for {
		if err := t.out.Write(messages...); err != nil {
			return err
		}
		var err error
		if watcher, messages, err = t.next(ctx, watcher, beat.C); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return t.out.Write(ui.Message{Type: ui.MessageError, Time: t.config.Now(), Error: err.Error()})
		}
	}
}

// next waits for changes and returns the messages with them; those of a new state if what the server serves has
// changed, or if the client was too slow.
func (t *stream) next(
	ctx context.Context, w *cache.Watcher, beat <-chan time.Time,
) (_ *cache.Watcher, messages []ui.Message, err error) {
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-beat:
		m := t.message(ui.MessageBeat, w.Progress())
		m.Queue = t.queue()
		return w, []ui.Message{m}, nil
	case <-w.Changed():
	}
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-time.After(streamPause):
	}
	events, revision, err := w.Poll()
	switch {
	case errors.Is(err, cache.ErrExpired) || t.table.generation != t.config.Types.Generation():
		t.past = false
		return t.begin()
	case err != nil:
		return nil, nil, err
	}
	m := t.message(ui.MessageChanges, revision)
	for _, e := range events {
		if c, ok := t.change(e); ok {
			c.Time = float64(m.Time.UnixMilli()) / 1000
			m.Changes = append(m.Changes, c)
		}
	}
	if t.total > 2*t.config.MostObjects {
		return nil, nil, tooLarge(t.total, t.config.MostObjects)
	}
	if len(m.Changes) == 0 {
		return w, nil, nil
	}
	return w, []ui.Message{m}, nil
}

func (t *stream) message(kind string, revision int64) ui.Message {
	return ui.Message{Type: kind, Revision: revision, Time: t.config.Now()}
}

// queue is how many objects the collector has to look at, for users who may read metrics.
func (t *stream) queue() *int {
	if t.config.Queue == nil || !t.config.Authorizer().Authorize(&authorization.Attributes{
		User: requestinfo.UserOf(t.r), Verb: "get", Path: "/metrics",
	}).Allowed() {
		return nil
	}
	if n, ok := t.config.Queue(); ok {
		return &n
	}
	return nil
}

func tooLarge(n, most int) error {
	return status.Oversized("the graph has %d objects, more than %d: choose a namespace", n, most)
}
