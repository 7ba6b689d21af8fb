package cluster

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	// mostStreams is how many streams of the graph are open at a time.
	mostStreams = 32
	// streamPause is the least time between two messages, so that changes which come fast share one.
	streamPause = 100 * time.Millisecond
	// streamTime is how long a stream lasts. The client then asks again, and is authorized again.
	streamTime = 15 * time.Minute
	// stateTime is how long a cluster may take to be read.
	stateTime = time.Minute
	// lasting is how long a state must last before the next one can be read without a longer pause. Where a watch expires
	// at once, everything would be listed again and again.
	lasting = 10 * time.Second
)

// stream is one stream of the graph. Only its handler's goroutine uses it.
type stream struct {
	*Service
	out       *ui.Writer
	namespace string
	source    Source
	d         *Discovery
	revision  int64
	// objects are those that the client has, by uid; stale the resources that can't be watched at present.
	objects map[string]ui.Object
	stale   map[string]string
}

// graph serves the objects and their changes, as ui.Messages.
func (s *Service) graph(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		render.Error(s.Log, w, r, apierrors.NewTooManyRequests("too many streams of the graph are open", 5))
		return
	}
	if err := s.stream(w, r); err != nil {
		render.Error(s.Log, w, r, err)
	}
}

// stream returns an error only if the response has not begun.
func (s *Service) stream(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	for name := range q {
		if name != "namespace" && name != "past" {
			return status.BadRequest("unknown query parameter %q", name)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	if s.Life != nil {
		defer context.AfterFunc(s.Life, cancel)()
	}
	t := &stream{Service: s, namespace: q.Get("namespace")}
	messages, err := t.state(r.WithContext(ctx), q.Get("past") == "true")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", codec.MediaJSON+";stream=lines")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	t.out = ui.NewWriter(w)
	for again := pauses; err == nil; {
		began := time.Now()
		if err = t.out.Write(messages...); err == nil {
			err = t.follow(ctx)
		}
		if time.Since(began) > lasting {
			again = pauses
		}
		if errors.Is(err, errExpired) && sleep(ctx, again.Step()) {
			messages, err = t.state(r.WithContext(ctx), false)
		}
	}
	if ctx.Err() == nil { // else the client is gone, or asks again
		_ = t.out.Write(ui.Message{Type: ui.MessageError, Time: t.Now(), Error: err.Error()})
	}
	return nil
}

// state reads the cluster and returns the messages of its state.
func (t *stream) state(r *http.Request, past bool) (messages []ui.Message, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), stateTime)
	defer cancel()
	r = r.WithContext(ctx)
	ended := t.limit(ctx, func() {
		var got *explain.Cluster
		if t.source, t.d, err = t.open(r); err != nil {
			return
		}
		one := &reader{from: t.source, d: t.d, o: Options{Namespace: cmp.Or(t.namespace, t.Namespace), Now: t.Now}}
		if got, err = one.list(ctx); err == nil {
			messages, err = t.begin(got, past)
		}
	})
	return messages, cmp.Or(ended, err)
}

// begin returns the messages of a state, which the client has from then on.
func (t *stream) begin(got *explain.Cluster, past bool) (messages []ui.Message, err error) {
	t.revision, t.stale, t.objects = got.Revision, map[string]string{}, map[string]ui.Object{}
	add := func(m ui.Message) {
		m.Revision, m.Time = got.Revision, got.Now
		messages = append(messages, m)
	}
	begin := ui.Message{Type: ui.MessageBegin, Source: ui.SourceLists}
	if got.Revision != 0 {
		begin.Source = ui.SourceServer
	}
	shown := map[string]*Resource{}
	for _, r := range t.d.Resources {
		if r.followed() {
			shown[r.Name()] = r
			begin.Resources = append(begin.Resources, onPage(&r.Resource))
		}
	}
	add(begin)
	if past {
		for part := range slices.Chunk(t.past(), ui.Batch) {
			add(ui.Message{Type: ui.MessagePast, Changes: part})
		}
	}
	var objects []ui.Object
	for i := range got.Objects {
		o := &got.Objects[i]
		// A namespace that the user may get, but not list, is left out: its changes are not known.
		if r := shown[o.Collection]; r != nil && !r.Hides(o.Key.Namespace) && t.within(o) {
			objects = append(objects, *picture(o))
			t.objects[o.UID] = objects[len(objects)-1]
		}
	}
	if len(objects) > t.MostObjects {
		return nil, t.tooLarge()
	}
	for part := range slices.Chunk(objects, ui.Batch) {
		add(ui.Message{Type: ui.MessageObjects, Objects: part})
	}
	add(ui.Message{Type: ui.MessageSynced, Queue: t.source.Waiting()})
	return messages, nil
}

// past returns the last changes before the state.
func (t *stream) past() (last []ui.Change) {
	t.source.Past(func(before, after *explain.Object, revision int64, at time.Time) {
		c := ui.Change{Revision: revision, Before: picture(before), After: picture(after)}
		if !at.IsZero() {
			c.Time = seconds(at)
		}
		if !t.within(cmp.Or(after, before)) || before != nil && after != nil && c.Before.Same(c.After) {
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
	return t.namespace == "" || o.Key.Namespace == "" || o.Key.Namespace == t.namespace
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
			if sleep(ctx, streamPause); ctx.Err() != nil {
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
		if err := t.out.Write(m); err != nil {
			return err
		}
	}
}

// take takes in an event and those that are waiting, and returns what they change for the client.
func (t *stream) take(e Event, events <-chan Event) (changes []ui.Change) {
	at := seconds(t.Now())
	for {
		if c, ok := t.change(&e); ok {
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

// change takes in an event; ok is false if it changes nothing that the client sees.
func (t *stream) change(e *Event) (c ui.Change, ok bool) {
	t.revision = max(t.revision, e.Revision)
	switch {
	case e.Stale != "" && e.Why != "":
		t.stale[e.Stale] = e.Why
		return c, false
	case e.Stale != "":
		delete(t.stale, e.Stale)
		return c, false
	case !t.within(&e.Object):
		return c, false
	}
	c.Revision = e.Revision
	if before, there := t.objects[e.Object.UID]; there {
		c.Before = &before
	}
	if e.Deleted {
		delete(t.objects, e.Object.UID)
		return c, c.Before != nil
	}
	c.After = picture(&e.Object)
	t.objects[e.Object.UID] = *c.After
	return c, c.Before == nil || !c.Before.Same(c.After)
}

func (t *stream) tooLarge() error {
	return status.Oversized("the graph has more than %d objects: choose a namespace", t.MostObjects)
}

// seconds is a time as the page has it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
