package ownership

import (
	"errors"
	"strconv"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/ui"
)

// begin returns the messages of the newest state, which are made in the user's turn, and the watcher of what follows.
func (t *stream) begin() (w *cache.Watcher, messages []ui.Message, err error) {
	revision, err := t.config.Revision(t.r.Context())
	if err != nil {
		return nil, nil, err
	}
	if err := t.config.Cache.Wait(t.r.Context(), revision); err != nil {
		return nil, nil, err
	}
	ended := t.inTurn(t.r.Context(), func() {
		for range attempts {
			if w, messages, err = t.state(); !errors.Is(err, cache.ErrExpired) {
				return
			}
		}
	})
	if ended != nil {
		return nil, nil, ended
	}
	return w, messages, err
}

// state makes the messages of the newest state.
func (t *stream) state() (*cache.Watcher, []ui.Message, error) {
	t.table = newTable(t.config.Types)
	revision := t.config.Cache.Revision()
	t.source = &source{
		table: t.table, cache: t.config.Cache, root: t.config.Root, namespace: t.namespace, revision: revision,
		snapshots: map[*row]*cache.Snapshot{},
	}
	begin := t.message(ui.MessageBegin, revision)
	begin.Source = ui.SourceServer
	for _, r := range t.source.permit(t.config.Authorizer(), requestinfo.UserOf(t.r)) {
		if !r.Inert {
			begin.Resources = append(begin.Resources, cluster.OnPage(&r))
		}
	}
	w, err := t.config.Cache.Timeline(revision)
	if err != nil {
		return nil, nil, err
	}
	messages := []ui.Message{begin}
	if t.past {
		messages = append(messages, t.pastOf(revision)...)
	}
	var objects []ui.Object
	for _, r := range t.table.rows {
		t.source.each(r, "", func(o *storage.Object) bool {
			if t.shows(r, o) {
				objects = append(objects, r.picture(o))
			}
			return len(objects) <= t.config.MostObjects
		})
	}
	if t.source.err != nil {
		return nil, nil, t.source.err
	}
	if t.total = len(objects); t.total > t.config.MostObjects {
		return nil, nil, tooLarge(t.total, t.config.MostObjects)
	}
	for len(objects) > 0 {
		n := min(ui.Batch, len(objects))
		m := t.message(ui.MessageObjects, revision)
		m.Objects, objects = objects[:n], objects[n:]
		messages = append(messages, m)
	}
	synced := t.message(ui.MessageSynced, revision)
	synced.Queue = t.queue()
	return w, append(messages, synced), nil
}

// pastOf are the last changes up to the revision, as far as the cache's history goes.
func (t *stream) pastOf(revision int64) (messages []ui.Message) {
	var expired *cache.ExpiredError
	w, err := t.config.Cache.Timeline(0)
	if errors.As(err, &expired) {
		w, err = t.config.Cache.Timeline(expired.Oldest)
	}
	var last []*cache.Event
	for err == nil {
		var events []*cache.Event
		if events, _, err = w.Poll(); len(events) == 0 || events[0].Revision > revision {
			break
		}
		for _, e := range events {
			if e.Revision <= revision && t.concerns(e) {
				last = append(last, e)
			}
		}
		last = last[max(0, len(last)-ui.MostPast):]
	}
	if err != nil { // history is no promise
		return nil
	}
	var changes []ui.Change
	for _, e := range last {
		if c, ok := t.change(e); ok {
			c.Time = t.when(&c)
			changes = append(changes, c)
		}
	}
	for len(changes) > 0 {
		n := min(ui.Batch, len(changes))
		m := t.message(ui.MessagePast, revision)
		m.Changes, changes = changes[:n], changes[n:]
		messages = append(messages, m)
	}
	return messages
}

// when is the time of a change, as far as the objects and the trail tell; 0 if they don't.
func (t *stream) when(c *ui.Change) float64 {
	switch {
	case c.Before == nil:
		return float64(c.After.Created)
	case c.After == nil && t.config.Removed != nil:
		if at := t.config.Removed(c.Before.UID); !at.IsZero() {
			return float64(at.UnixMilli()) / 1000
		}
	case c.After != nil && c.Before.Deletion == 0 && c.After.Deletion != 0:
		return float64(c.After.Deletion - c.After.Grace)
	}
	return 0
}

// concerns reports whether an event changes what the client sees of an object.
func (t *stream) concerns(e *cache.Event) bool {
	r := t.table.collections[e.Collection]
	return r != nil && t.shows(r, e.Object)
}

// shows reports whether the client sees the object: the user may list it, and it is of the namespace that they chose.
func (t *stream) shows(r *row, o *storage.Object) bool {
	return o.Err == nil && !r.Inert && t.source.may(r, o.Meta.Namespace) &&
		(t.namespace == "" || o.Meta.Namespace == "" || o.Meta.Namespace == t.namespace)
}

// change is the event as the client sees it; ok is false if it changes nothing there.
func (t *stream) change(e *cache.Event) (c ui.Change, ok bool) {
	r := t.table.collections[e.Collection]
	if r == nil || !t.shows(r, e.Object) || (e.Prev != nil && e.Prev.Err != nil) {
		return c, false
	}
	c.Revision = e.Revision
	if e.Prev != nil {
		if e.Type == cache.Modified && alike(&e.Prev.Meta, &e.Object.Meta) {
			return c, false
		}
		before := r.picture(e.Prev)
		c.Before = &before
	}
	if e.Type != cache.Deleted {
		after := r.picture(e.Object)
		c.After = &after
	}
	switch {
	case c.Before == nil && c.After == nil:
		return c, false
	case c.Before == nil:
		t.total++
	case c.After == nil:
		t.total--
	}
	return c, true
}

// alike reports whether the pictures of two states of an object are the same, without making them.
func alike(a, b *storage.Meta) bool {
	x, y := pictureOf(a), pictureOf(b)
	return x.Same(&y)
}

// picture is the object as the page sees it.
func (r *row) picture(o *storage.Object) ui.Object {
	p := pictureOf(&o.Meta)
	p.Resource, p.Created = r.Name(), created(o.JSON)
	return p
}

func pictureOf(m *storage.Meta) ui.Object {
	p := ui.Object{Namespace: m.Namespace, Name: m.Name, UID: m.UID, Finalizers: m.Finalizers, Labels: m.Labels}
	if m.Deleting() {
		p.Deletion = m.Deletion.Unix()
		if m.GracePeriodSeconds != nil {
			p.Grace = *m.GracePeriodSeconds
		}
	}
	for i := range m.Owners {
		w := &m.Owners[i]
		p.Owners = append(p.Owners, ui.Owner{
			APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID, Controller: w.Controller, Block: w.Block,
		})
	}
	return p
}

// created is the creationTimestamp of a stored object; 0 if it has none.
func created(object []byte) int64 {
	s, err := strconv.Unquote(string(member(member(object, "metadata"), "creationTimestamp")))
	if err != nil {
		return 0
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0
	}
	return at.Unix()
}
