package endpoints

import (
	"cmp"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// share sets the keys by which watchers share encoded events.
func (w *watch) share() {
	w.keys = nil
	if key := w.x.Key(); key != "" {
		w.keys = map[string]string{"ADDED": key + ";ADDED", "MODIFIED": key + ";MODIFIED", "DELETED": key + ";DELETED"}
	}
}

// emit buffers one event. One that other watchers send in the same form is encoded once.
func (w *watch) emit(typ string, o *storage.Object, e *cache.Event) error {
	key := w.keys[typ]
	if e == nil || key == "" {
		frame, err := w.frame(typ, o)
		return w.emitted(o, frame, err)
	}
	if frame, ok := e.Made(key); ok && len(frame) > 0 {
		return w.emitted(o, frame, nil)
	}
	var failed error
	frame := e.Memo(key, func() (frame []byte) {
		frame, failed = w.frame(typ, o)
		return frame
	})
	if len(frame) == 0 && failed == nil { // another watcher failed to encode it
		frame, failed = w.frame(typ, o)
	}
	return w.emitted(o, frame, failed)
}

// frame encodes one event. Large ones that no webhook converts are encoded in turn: else all watches that an event
// wakes would hold memory for one at the same time.
func (w *watch) frame(typ string, o *storage.Object) (frame []byte, err error) {
	large := len(o.JSON) >= render.LargeObject && (!w.x.Resource.Custom || w.x.Resource.FromStored == nil)
	ended := w.api.limits.InTurn(w.q.r, w.q.User.Name, large, func() {
		var object []byte
		if object, err = w.render(o); err == nil {
			frame, err = w.x.Frame(typ, object)
		}
	})
	return frame, cmp.Or(ended, err)
}

// emitted buffers and counts a frame, or handles the error of encoding it.
func (w *watch) emitted(o *storage.Object, frame []byte, failed error) error {
	if status.Unconverted(failed) != nil { // the object exists, so the client must not take its cache for complete
		w.fail(failed)
		return failed
	}
	if failed != nil && w.q.r.Context().Err() != nil {
		return failed
	}
	if failed != nil {
		w.api.registry.Unreadable(o.Key, failed, "omitted from a watch")
		return nil
	}
	if w.count == nil {
		w.count = w.api.metrics.Events(w.q.Resource)
	}
	w.count.Inc()
	return w.out.write(frame)
}

// render encodes an object. Of Tables only the first has the column definitions.
func (w *watch) render(o *storage.Object) ([]byte, error) {
	if w.x.Format.As != "Table" {
		return w.x.Object(o)
	}
	w.x.Now = w.api.now()
	t, err := w.x.Table(
		[]*storage.Object{o}, metav1.ListMeta{ResourceVersion: strconv.FormatInt(o.Revision, 10)}, !w.tabled,
	)
	if err != nil {
		return nil, err
	}
	w.tabled = true
	return w.x.Encode(t)
}
