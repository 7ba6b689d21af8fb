package endpoints

import (
	"strings"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// send writes the events that this watch selects (H-31), and returns their number.
func (w *watch) send(events []*cache.Event) (sent int, err error) {
	for _, e := range events {
		// An unreadable state is in no list, and no watch selects it.
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
		case before: // not selected any more: its last selected content, at this revision
			left := w.api.Registry.Decoder.Revise(e.Prev, e.Revision)
			w.rendering.Revised(e.Prev, left)
			err = w.emit("DELETED", left, nil)
		}
		clear(w.rendering.Views)
		if err == nil && (now || before) {
			err = w.counted()
		}
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// selects reports whether the watch selects the states of an object before and after an event that was not sent. It
// does not select unreadable states.
func (w *watch) selects(e *cache.Event) (before, now bool, err error) {
	key := e.Object.Key
	if e.Revision <= w.rev || !strings.HasPrefix(key, w.sel.Prefix) || w.sel.Key != "" && key != w.sel.Key {
		return false, false, nil
	}
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
		err = w.api.Registry.Readable(w.sel.Resource, obj)
	}
	if err != nil {
		w.api.Registry.Unreadable(obj.Key, err, "omitted from a watch")
	}
	return err == nil
}
