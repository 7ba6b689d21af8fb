package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	mostStreams = 32                     // how many streams of the graph are open at a time
	streamPause = 100 * time.Millisecond // the least time between two messages, so that fast changes share one
	streamTime  = 15 * time.Minute       // how long a stream lasts; then the client connects again, and is authorized
	stateTime   = time.Minute            // how long a cluster may take to be read
	patience    = 30 * time.Second       // how long a client may leave a message unread, so that none holds a stream
	// lasting is the minimum duration of a state for which the next one is read without a longer pause: if watches
	// expired at once, everything would be listed continuously.
	lasting = 10 * time.Second
)

// stream is one stream of the graph. Only its handler's goroutine uses it.
type stream struct {
	*Service
	out       *json.Encoder
	control   *http.ResponseController
	namespace string
	source    Source
	d         *Discovery
	revision  int64
	// objects has the objects that the client has, by uid; stale the resources that can't be watched at present.
	objects map[string]*ui.Object
	stale   map[string]string
}

// graph serves the objects and their changes, as ui.Messages.
func (s *Service) graph(w http.ResponseWriter, r *http.Request) {
	if !s.streams.TryAcquire(1) {
		render.Error(s.Log, w, r, apierrors.NewTooManyRequests("too many streams of the graph are open", 5))
		return
	}
	defer s.streams.Release(1)
	if err := s.stream(w, r); err != nil {
		render.Error(s.Log, w, r, err)
	}
}

// stream returns an error only if the response has not begun.
func (s *Service) stream(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, "graph")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	defer context.AfterFunc(s.Life, cancel)()
	t := &stream{
		Service: s, out: json.NewEncoder(w), control: http.NewResponseController(w), namespace: q.Get("namespace"),
	}
	messages, err := t.state(r.WithContext(ctx), q.Get("past") == "true")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaJSON+";stream=lines")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	for again := pauses; err == nil; {
		began := time.Now()
		if err = t.write(messages...); err == nil {
			err = t.follow(ctx)
		}
		if time.Since(began) > lasting {
			again = pauses
		}
		if errors.Is(err, errExpired) && sleep(ctx, again.Step()) {
			messages, err = t.state(r.WithContext(ctx), false)
		}
	}
	if ctx.Err() == nil { // otherwise the client is gone, or connects again
		_ = t.write(ui.Message{Type: ui.MessageError, Time: t.Now(), Error: err.Error()})
	}
	return nil
}

// write sends messages, each as a line.
func (t *stream) write(messages ...ui.Message) error {
	for i := range messages {
		if err := t.control.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if err := t.out.Encode(&messages[i]); err != nil {
			return err
		}
	}
	return t.control.Flush()
}

// state reads the cluster and returns the messages of its state.
func (t *stream) state(r *http.Request, past bool) ([]ui.Message, error) {
	ctx, cancel := context.WithTimeout(r.Context(), stateTime)
	defer cancel()
	err := t.questions.Acquire(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer t.questions.Release(1)
	if t.source, err = t.open(r.WithContext(ctx)); err != nil {
		return nil, err
	}
	one := &reader{from: t.source, o: Options{Namespace: cmp.Or(t.namespace, t.Namespace), Now: t.Now}}
	got, err := one.list(ctx)
	if err != nil {
		return nil, err
	}
	t.d = one.d
	return t.begin(got, past)
}

// begin returns the messages of a state, which the client has from then on.
func (t *stream) begin(got *explain.Cluster, past bool) (messages []ui.Message, err error) {
	t.revision, t.stale, t.objects = got.Revision, map[string]string{}, map[string]*ui.Object{}
	begin := ui.Message{Type: ui.MessageBegin, Source: ui.SourceLists}
	if got.Revision != 0 {
		begin.Source = ui.SourceServer
	}
	shown := map[string]*Resource{}
	for _, r := range t.d.Resources {
		if r.followed() {
			shown[r.Name()] = r
			begin.Resources = append(begin.Resources, ui.Resource{
				Name: r.Name(), APIVersion: r.APIVersion(), Kind: r.Kind, Plural: r.Plural, Namespaced: r.Namespaced,
				Unknown: r.Unknown,
			})
		}
	}
	messages = append(messages, begin)
	if past {
		for part := range slices.Chunk(t.past(), ui.Batch) {
			messages = append(messages, ui.Message{Type: ui.MessagePast, Changes: part})
		}
	}
	var objects []ui.Object
	for _, o := range got.Objects {
		// A namespace that the user may get, but not list, is left out: its changes are not known.
		if r := shown[o.Collection]; r != nil && !r.Hides(o.Namespace) && t.within(o) {
			t.objects[o.UID] = picture(o)
			objects = append(objects, *t.objects[o.UID])
		}
	}
	if len(objects) > t.MostObjects {
		return nil, t.tooLarge()
	}
	for part := range slices.Chunk(objects, ui.Batch) {
		messages = append(messages, ui.Message{Type: ui.MessageObjects, Objects: part})
	}
	messages = append(messages, ui.Message{Type: ui.MessageSynced, Queue: t.source.Waiting()})
	for i := range messages {
		messages[i].Revision, messages[i].Time = got.Revision, got.Now
	}
	return messages, nil
}

// past returns the last changes before the state.
func (t *stream) past() (last []ui.Change) {
	t.source.Past(func(e Event, at time.Time) {
		c := ui.Change{Revision: e.Revision, Before: picture(e.Before), After: picture(e.After)}
		if !at.IsZero() {
			c.Time = seconds(at)
		}
		if !t.within(cmp.Or(e.After, e.Before)) || !c.Visible() {
			return
		}
		if last = append(last, c); len(last) >= 2*ui.MostPast {
			last = slices.Delete(last, 0, ui.MostPast)
		}
	})
	return last[max(0, len(last)-ui.MostPast):]
}

// within reports whether the object is of the namespace that the client chose, or in none.
func (t *stream) within(o *explain.Object) bool {
	return t.namespace == "" || o.Namespace == "" || o.Namespace == t.namespace
}

// follow sends what happens after the state. It returns an error in any case.
func (t *stream) follow(ctx context.Context) error {
	var watch sync.WaitGroup
	defer watch.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, ended := make(chan Event, 2*ui.Batch), make(chan error, 1)
	watch.Go(func() {
		ended <- t.source.Watch(ctx, t.d, func(e Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	beat := time.NewTicker(ui.Beat)
	defer beat.Stop()
	for {
		var m ui.Message
		select {
		case err := <-ended:
			return err
		case <-beat.C:
			m = ui.Message{Type: ui.MessageBeat, Queue: t.source.Waiting()}
			for _, name := range slices.Sorted(maps.Keys(t.stale)) {
				m.Stale = append(m.Stale, name+": "+t.stale[name])
			}
		case e := <-events:
			if !sleep(ctx, streamPause) {
				return ctx.Err()
			}
			m = ui.Message{Type: ui.MessageChanges, Changes: t.take(e, events)}
		}
		switch m.Time, m.Revision = t.Now(), t.revision; {
		case len(t.objects) > 2*t.MostObjects:
			return t.tooLarge()
		case m.Type == ui.MessageChanges && len(m.Changes) == 0:
			continue
		}
		if err := t.write(m); err != nil {
			return err
		}
	}
}

// take processes an event and those that wait, and returns the changes for the client.
func (t *stream) take(e Event, events <-chan Event) (changes []ui.Change) {
	for at := seconds(t.Now()); ; {
		if c := t.change(&e); c.Visible() {
			c.Time = at
			changes = append(changes, c)
		}
		if len(changes) == ui.Batch {
			return changes
		}
		select {
		case e = <-events:
		default:
			return changes
		}
	}
}

// change processes an event. It returns an empty change for an event that the client does not see.
func (t *stream) change(e *Event) (c ui.Change) {
	t.revision = max(t.revision, e.Revision)
	o := cmp.Or(e.After, e.Before)
	switch {
	case e.Stale != "" && e.Why != "":
		t.stale[e.Stale] = e.Why
	case e.Stale != "":
		delete(t.stale, e.Stale)
	case t.within(o):
		c = ui.Change{Revision: e.Revision, Before: t.objects[o.UID], After: picture(e.After)}
		if t.objects[o.UID] = c.After; c.After == nil {
			delete(t.objects, o.UID)
		}
	}
	return c
}

func (t *stream) tooLarge() error {
	return status.Oversized("the graph has more than %d objects: choose a namespace", t.MostObjects)
}

// seconds returns a time in the form of the page's messages.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
