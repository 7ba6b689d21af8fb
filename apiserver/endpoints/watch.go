package endpoints

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// The interval of bookmarks (H-28, H-33).
const (
	bookmarkEvery = time.Minute
	// lastBookmark is the time between the last bookmark and the end of a watch.
	lastBookmark = 2 * time.Second
	// watchChunk is the size at which buffered events are sent.
	watchChunk = 64 << 10
)

// serveWatch handles a GET with watch=true, or of a legacy watch path (H.3).
func (a *API) serveWatch(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	// YAML has no framing (AS negotiation: NegotiateOutputMediaTypeStream).
	if rendering.Format.Media == codec.MediaYAML {
		return negotiation.NewNotAcceptableError(render.Streamed(!req.Resource.Custom))
	}
	ctx, cancel := context.WithCancel(req.r.Context())
	defer cancel()
	req.r = req.r.WithContext(ctx)
	query := maps.Clone(requestinfo.Query(req.r))
	query.Set("watch", "true")
	opts, err := listOptions(query)
	if err != nil {
		return err
	}
	rev, err := registry.ParseRevision(opts.ResourceVersion) // H-29
	if err != nil {
		return err
	}
	sel, err := a.Registry.SelectionOf(req.Target, opts)
	if err != nil {
		return err
	}
	open := a.Metrics.Open(labelOf(req.Target, "watch"))
	open.Inc()
	defer open.Dec()
	w := &watch{req: req, api: a, rendering: rendering, sel: sel, opts: opts, rev: rev}
	return w.serve()
}

// watch is one stream. Only the handler's goroutine uses it.
type watch struct {
	req       *request
	api       *API
	rendering *render.Rendering
	sel       registry.Selection
	opts      *metainternal.ListOptions
	// rev is the revision up to which all events were sent. At first it is the revision at which the watch starts.
	rev int64
	// keys are the keys of shared encoded events, by event type. It is nil if they can't be shared.
	keys map[string]string
	// count counts events. It is nil before the first one.
	count prometheus.Counter
	// out sends the events.
	out frames
	// tabled reports whether column definitions have been sent.
	tabled bool
	fault  watchFault
}

// frames sends the events of a stream. Each frame is a whole event.
type frames interface {
	// write may buffer the frame until flush.
	write(frame []byte) error
	flush() error
}

func (w *watch) serve() error {
	w.share()
	if requestinfo.IsWebSocket(w.req.r) {
		return w.serveSocket()
	}
	h := w.req.w.Header()
	render.Warnings(h, w.req.Warn.Sent())
	h.Set("Content-Type", w.contentType())
	h.Set("Cache-Control", "no-cache, private")
	compressed := w.compresses()
	if compressed {
		render.Compressed(h)
	}
	w.req.w.WriteHeader(http.StatusOK)
	w.out = &chunks{to: w.req.w, compressed: compressed}
	return w.stream(w.req.r.Context())
}

// compresses reports whether the stream is compressed: it is if it begins with a list and a bookmark marks the list's
// end (V-056; AS handlers/watch.go: BeginStream, get.go: isListWatchRequest).
func (w *watch) compresses() bool {
	return w.api.CompressWatchLists && w.wantsInitial() && w.opts.AllowWatchBookmarks && render.Compresses(w.req.r)
}

// wantsInitial reports whether the client requests initial events.
func (w *watch) wantsInitial() bool {
	return w.opts.SendInitialEvents != nil && *w.opts.SendInitialEvents
}

// stream sends events until the watch ends. It returns nil, because a response that has started can't become an error.
func (w *watch) stream(ctx context.Context) error {
	end := time.Now().Add(w.duration())
	// The watch starts before the client gets the headers, so that it misses no later event.
	watcher, err := w.start()
	flowcontrol.Begun(ctx)
	if err != nil {
		w.fail(err)
		return nil
	}
	if err := w.out.flush(); err != nil {
		return nil
	}
	due := time.NewTimer(untilNext(end))
	defer due.Stop()
	for {
		changed, retyped, ended := w.read(ctx, watcher)
		if ended {
			return w.end()
		}
		select {
		case <-due.C:
			if time.Until(end) <= 0 { // H-33
				return w.end()
			}
			w.rev = max(w.rev, watcher.Progress())
			w.bookmark(false)
			due.Reset(untilNext(end))
		case <-ctx.Done():
			return nil
		case <-w.api.watches.closing:
			return w.end()
		case <-retyped:
		case <-changed:
		case <-w.fault.changed:
		case <-w.fault.timer:
		}
	}
}

// untilNext returns the time until the next bookmark, or until the end (H-28).
func untilNext(end time.Time) time.Duration {
	left := time.Until(end)
	if last := left - lastBookmark; last > 0 {
		return min(bookmarkEvery, last)
	}
	return left
}

// read sends the available events. changed is closed when there are more, and retyped when the types change. ended
// reports whether the watch has ended.
func (w *watch) read(ctx context.Context, watcher *cache.Watcher) (changed, retyped <-chan struct{}, ended bool) {
	retyped, going := w.followCRD()
	if !going && w.api.Registry.Fresh(ctx) != nil { // send all events up to the end of the resource
		return nil, nil, true
	}
	if held, err := w.meet(); err != nil || held && going {
		return nil, retyped, err != nil
	}
	events, rev, err := w.poll(watcher)
	if err != nil {
		w.fail(err)
		return nil, nil, true
	}
	sent, err := w.send(events)
	if err != nil || len(events) == 0 && !going {
		return nil, nil, true
	}
	w.rev = max(w.rev, rev)
	changed = watcher.Changed()
	select {
	case <-changed:
		changed = busy // more events are available; return first, so that a busy watch can end
	default:
		if !going {
			changed = busy // until there is nothing left
		}
	}
	// Buffered events do not wait for later events that this watch may not select.
	if (changed != busy || sent == 0) && w.out.flush() != nil {
		return nil, nil, true
	}
	return changed, retyped, false
}

// followCRD returns a channel that is closed when the types change, and reports whether the watch continues: it ends
// when its CustomResourceDefinition has changed (H-38).
func (w *watch) followCRD() (changed <-chan struct{}, going bool) {
	old := w.req.Resource
	if !old.Custom {
		return nil, true
	}
	changed = w.api.Registry.Types.Changed()
	now := w.api.Registry.Types.Lookup(old.Group, old.Version, old.Plural)
	return changed, now != nil && now.State == old.State
}

// busy is a closed channel, for a watcher with more events.
var busy = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// end flushes the buffer.
func (w *watch) end() error {
	_ = w.out.flush() // an error means that the client is gone
	return nil
}

// duration returns the duration of the watch, 0 for a negative timeout (H-33). Without a timeout, it is random, so that
// the watches of a restarted server don't end together (AS pkg/endpoints/handlers/get.go: ListResource).
func (w *watch) duration() time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	if t := w.opts.TimeoutSeconds; t != nil && *t != 0 {
		return time.Duration(max(min(*t, most), 0)) * time.Second
	}
	if least := w.api.MinWatch; least > 0 {
		return least + rand.N(least)
	}
	return 0
}

func (w *watch) contentType() string {
	if w.rendering.Format.Media == codec.MediaProtobuf {
		return codec.MediaProtobuf + ";stream=watch"
	}
	return w.rendering.Format.Media
}

// fail ends the stream with an ERROR event (H-30).
func (w *watch) fail(err error) {
	var old *cache.ExpiredError
	if errors.As(err, &old) {
		err = apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", old.Revision, old.Oldest))
	}
	data, e := render.EncodeAs(status.Of(err), w.rendering.Format.Media)
	if e == nil {
		data, e = w.rendering.Frame("ERROR", data)
	}
	if e != nil {
		return
	}
	if e = w.out.write(data); e == nil {
		e = w.out.flush()
	}
	if e != nil {
		w.api.Log.Debug("watch was interrupted", "err", e)
	}
}
