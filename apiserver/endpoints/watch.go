package endpoints

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/respond"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// The interval of bookmarks (H-28, H-33).
const (
	bookmarkEvery = time.Minute
	// lastBookmark is how long before its end a watch sends its last bookmark.
	lastBookmark = 2 * time.Second
	// watchChunk is how many bytes of events are buffered before they are sent.
	watchChunk = 64 << 10
)

// serveWatch is GET with watch=true, or a legacy watch path (H.3).
func (a *API) serveWatch(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	// there is no framing for it (AS negotiation: NegotiateOutputMediaTypeStream)
	if rendering.Format.Media == codec.MediaYAML {
		return render.NotAcceptable(render.Streamed(!req.Resource.Custom))
	}
	ctx, cancel := context.WithCancel(req.r.Context())
	defer cancel()
	req.r = req.r.WithContext(ctx)
	if err := req.holdWatch(cancel); err != nil {
		return err
	}
	query := maps.Clone(exchange.Query(req.r))
	query.Set("watch", "true")
	opts, err := req.listOptions(query)
	if err != nil {
		return err
	}
	rev, err := registry.ParseRevision(opts.ResourceVersion) // H-29
	if err != nil {
		return err
	}
	sel, err := a.registry.SelectionOf(req.Target, opts)
	if err != nil {
		return err
	}
	open := a.metrics.Open(exchange.LabelOf(req.Target, "watch"))
	open.Inc()
	defer open.Dec()
	w := &watch{req: req, api: a, rendering: rendering, sel: sel, opts: opts, rev: rev, rec: exchange.Of(req.r)}
	w.share()
	watching, leave := a.watches.counts.join(req.Resource.Collection)
	defer leave()
	w.watching = watching
	return w.serve()
}

// watch is one stream. Only the handler's goroutine uses it.
type watch struct {
	req       *request
	api       *API
	rendering *render.Rendering
	sel       registry.Selection
	opts      *metainternal.ListOptions
	// rev is the revision up to which everything was sent; at first the one at which the watch starts.
	rev int64
	// keys are those by which encoded events are shared, by the events' types; nil if they can't be shared.
	keys map[string]string
	// watching is the number of watches of the collection, sent the time at which events were sent last, and pause the
	// timer of waitBatch, nil before it is needed. burst says that events come faster than they are sent.
	watching *atomic.Int64
	sent     time.Time
	pause    *time.Timer
	burst    bool
	// count counts events; nil before there is one.
	count prometheus.Counter
	// out takes the events. rec counts what the watch keeps while its client does not read; nil in tests.
	out frames
	rec *exchange.Recorder
	// tabled says that column definitions have been sent.
	tabled bool
}

// frames takes the events of a stream, each whole.
type frames interface {
	// write may hold the frame back until flush.
	write(frame []byte) error
	flush() error
}

func (w *watch) serve() error {
	if exchange.IsWebSocket(w.req.r) {
		return w.serveSocket()
	}
	h := w.req.w.Header()
	respond.Warnings(h, w.req.Warn)
	h.Set("Content-Type", w.contentType())
	h.Set("Cache-Control", "no-cache, private")
	w.req.w.WriteHeader(http.StatusOK)
	w.out = &chunks{to: w.req.w, conn: exchange.ConnectionOf(w.req.r)}
	err := w.stream(w.req.r.Context())
	if w.rec != nil && w.rec.IsCut() {
		panic(http.ErrAbortHandler) // the client must not take a part of an event for its end
	}
	return err
}

// stream sends events until the watch ends, and returns nil: an error can't become an answer any more.
func (w *watch) stream(ctx context.Context) error {
	end := time.Now().Add(w.lasts())
	// It starts before the client gets the answer's head: from then on no event is missed.
	watcher, err := w.start()
	w.req.begun()
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
		if w.burst && changed != busy { // it is not woken for each event of a burst
			w.waitBatch(ctx)
			changed = busy
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
			if changed != busy {
				w.burst = w.waitBatch(ctx)
			}
		}
	}
}

// untilNext is the time until the next bookmark, or the end (H-28).
func untilNext(end time.Time) time.Duration {
	left := time.Until(end)
	if last := left - lastBookmark; last > 0 {
		return min(bookmarkEvery, last)
	}
	return left
}

// read sends the events that there are. It returns channels that are closed when there are more and when the types
// change, or that the watch has ended.
func (w *watch) read(ctx context.Context, watcher *cache.Watcher) (changed, retyped <-chan struct{}, ended bool) {
	retyped, going := w.followCRD()
	if !going && w.api.registry.Fresh(ctx) != nil { // events before the end of the resource are sent
		return nil, nil, true
	}
	events, rev, err := watcher.Poll()
	if err != nil {
		w.fail(err)
		return nil, nil, true
	}
	w.rec.KeepEvents(events)
	sent, err := w.send(events)
	w.rec.Keep(0)
	if err != nil || len(events) == 0 && !going {
		return nil, nil, true
	}
	w.rev = max(w.rev, rev)
	changed = watcher.Changed()
	select {
	case <-changed:
		changed = busy // there are more already; a busy watch ends in time, too
	default:
		if !going {
			changed = busy // until there is nothing left
		}
	}
	if w.burst = w.burst && sent > 0; sent > 0 {
		w.sent = time.Now()
	}
	// Buffered events do not wait behind events that this watch does not select.
	if (changed != busy || sent == 0) && w.out.flush() != nil {
		return nil, nil, true
	}
	return changed, retyped, false
}

// busy is the channel of a watcher that has more to read.
var busy = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// end sends what is buffered.
func (w *watch) end() error {
	_ = w.out.flush() // the client is gone
	return nil
}

// lasts is the duration of the watch; a negative timeout ends it at once (H-33). Without one it is random, so that the
// watches of a restarted server don't end together (AS pkg/endpoints/handlers/get.go: ListResource).
func (w *watch) lasts() time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	if t := w.opts.TimeoutSeconds; t != nil && *t != 0 {
		return time.Duration(max(min(*t, most), 0)) * time.Second
	}
	if least := w.api.minWatch; least > 0 {
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

// start sends the initial events that the client asks for, and returns a watcher that continues right after them
// (H-26, H-27).
func (w *watch) start() (*cache.Watcher, error) {
	ctx := w.req.r.Context()
	initial := w.opts.SendInitialEvents != nil && *w.opts.SendInitialEvents
	collection := w.req.Resource.Collection
	var err error
	switch {
	case initial && w.opts.ResourceVersion == "", !initial && w.rev == 0 && w.opts.ResourceVersion == "":
		err = w.api.registry.Fresh(ctx)
	case initial && w.rev > 0:
		err = w.api.registry.WaitFor(ctx, w.rev)
	}
	if err != nil {
		return nil, err
	}
	if !initial {
		if w.rev == 0 {
			w.rev = w.api.registry.Cache.Revision()
		}
		return w.watchFrom(collection, w.rev)
	}
	snap, err := w.api.registry.Cache.Snapshot(collection, 0)
	if err != nil {
		return nil, err
	}
	rev := snap.Revision() // from here on only selected objects of the snapshot are kept
	if err := w.initial(snap); err != nil {
		return nil, err
	}
	w.rev = rev
	if w.opts.AllowWatchBookmarks {
		w.bookmark(true)
	}
	return w.api.registry.Cache.Watch(collection, w.rev)
}

// watchFrom starts after a revision that the client names. A future one is accepted: the watch is silent until events
// after it occur (H-29).
func (w *watch) watchFrom(collection string, rev int64) (*cache.Watcher, error) {
	return w.api.registry.Cache.Watch(collection, min(rev, w.api.registry.Cache.Revision()))
}

// send writes the events that this watch selects (H-31), and counts them.
func (w *watch) send(events []*cache.Event) (sent int, err error) {
	for _, e := range events {
		if e.Revision <= w.rev || !w.below(e.Object.Key) {
			continue
		}
		// A state that can't be read is in no list, and not selected by a watch.
		before, now, err := w.selects(e)
		if err != nil {
			w.fail(err)
			return sent, err
		}
		if now || before {
			sent++
		}
		switch {
		case now && before:
			err = w.emit("MODIFIED", e.Object, e)
		case now:
			err = w.emit("ADDED", e.Object, e)
		case before && e.Type == cache.Deleted:
			err = w.emit("DELETED", e.Object, e)
		case before: // it is not selected any more: its last selected content, at this revision
			left := w.api.registry.Decoder.Revise(e.Prev, e.Revision)
			w.rendering.Revised(e.Prev, left)
			err = w.emit("DELETED", left, nil)
		}
		clear(w.rendering.Views)
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// initial sends the selected objects of a snapshot.
func (w *watch) initial(snap *cache.Snapshot) (err error) {
	show := func(obj *storage.Object) bool {
		err = w.emit("ADDED", obj, nil)
		w.rendering.Forget(obj)
		return err == nil
	}
	ctx, all := w.req.r.Context(), registry.Cached{Snapshot: snap, Prefix: w.sel.Prefix}
	if w.sel.Resource.Custom {
		if e := w.api.listCustom(ctx, all, "", 0, &w.sel, w.rendering, show); e != nil {
			return e
		}
		return err
	}
	items, _, err := w.api.page(ctx, scan{state: all}, &w.sel, w.rendering)
	w.rec.Keep(sizeOf(items))
	defer w.rec.Keep(0)
	for i := 0; i < len(items) && show(items[i]); i++ {
	}
	return err
}

// selects reports whether the watch selects the states of an object before and after an event. States that can't be
// read are not selected.
func (w *watch) selects(e *cache.Event) (before, now bool, err error) {
	if w.sel.Resource.Custom && w.sel.Deep() {
		var states []*storage.Object
		for _, obj := range []*storage.Object{e.Prev, e.Object} {
			if obj != nil && obj.Err == nil && w.sel.MatchesMetadata(obj) && (obj == e.Prev || e.Type != cache.Deleted) {
				states = append(states, obj)
			}
		}
		if err := w.rendering.Read(states); err != nil {
			return false, false, err
		}
	}
	now = e.Type != cache.Deleted && w.shows(e.Object)
	before = e.Prev != nil && w.shows(e.Prev)
	return before, now, nil
}

// shows reports whether the state can be read and is selected.
func (w *watch) shows(obj *storage.Object) bool {
	if obj.Err != nil || !w.sel.MatchesMetadata(obj) {
		return false
	}
	fields := obj.Fields
	var err error
	if w.sel.Resource.Custom {
		if err = w.rendering.Unreadable(obj); err == nil && w.sel.Deep() {
			var data []byte
			data, err = w.rendering.JSON(obj)
			fields = storage.Select(data, w.sel.Resource.Fields)
		}
	}
	if err == nil && !w.sel.Has(fields) {
		return false
	}
	if !w.sel.Resource.Custom {
		err = w.api.registry.Readable(w.sel.Resource, obj)
	}
	if err != nil {
		w.api.registry.Unreadable(obj.Key, err, "omitted from a watch")
	}
	return err == nil
}

// below reports whether the key is in the namespace, or is the one key, that is watched.
func (w *watch) below(key string) bool {
	if w.sel.Key != "" {
		return key == w.sel.Key
	}
	return len(key) > len(w.sel.Prefix) && key[:len(w.sel.Prefix)] == w.sel.Prefix
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
		w.api.log.Debug("watch was interrupted", "err", e)
	}
}

// holdWatch counts the memory of an open watch. cancel ends it.
func (req *request) holdWatch(cancel func()) error {
	if rec := exchange.Of(req.r); rec != nil && !rec.HoldWatch(render.WatchMemory+inflight.HeadMemory(req.r), cancel) {
		return status.ErrBusy
	}
	return nil
}
