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
	if key := w.rendering.Key(); key != "" {
		w.keys = map[string]string{"ADDED": key + ";ADDED", "MODIFIED": key + ";MODIFIED", "DELETED": key + ";DELETED"}
	}
}

// emit buffers one event. One that other watchers send in the same form is encoded once.
func (w *watch) emit(typ string, obj *storage.Object, e *cache.Event) error {
	key := w.keys[typ]
	if e == nil || key == "" {
		frame, err := w.frame(typ, obj)
		return w.emitted(obj, frame, err)
	}
	if frame, ok := e.Made(key); ok && len(frame) > 0 {
		return w.emitted(obj, frame, nil)
	}
	var failed error
	frame := e.Memo(key, func() (frame []byte) {
		frame, failed = w.frame(typ, obj)
		return frame
	})
	if len(frame) == 0 && failed == nil { // another watcher failed to encode it
		frame, failed = w.frame(typ, obj)
	}
	return w.emitted(obj, frame, failed)
}

// frame encodes one event. Large ones that no webhook converts are encoded in turn: else all watches that an event
// wakes would hold memory for one at the same time.
func (w *watch) frame(typ string, obj *storage.Object) (frame []byte, err error) {
	large := len(obj.JSON) >= render.LargeObject &&
		(!w.rendering.Resource.Custom || w.rendering.Resource.FromStored == nil)
	ended := w.api.limits.InTurn(w.req.r, w.req.User.Name, large, func() {
		frame, err = w.encode(typ, obj)
	})
	return frame, cmp.Or(ended, err)
}

// emitted buffers and counts a frame, or handles the error of encoding it.
func (w *watch) emitted(obj *storage.Object, frame []byte, failed error) error {
	if status.Unconverted(failed) != nil { // the object exists, so the client must not take its cache for complete
		w.fail(failed)
		return failed
	}
	if failed != nil && w.req.r.Context().Err() != nil {
		return failed
	}
	if failed != nil {
		w.api.registry.Unreadable(obj.Key, failed, "omitted from a watch")
		return nil
	}
	if w.count == nil {
		w.count = w.api.metrics.Events(w.req.Resource)
	}
	w.count.Inc()
	return w.out.write(frame)
}

// encode encodes an event. Of Tables only the first has the column definitions.
func (w *watch) encode(typ string, obj *storage.Object) ([]byte, error) {
	if w.rendering.Format.As != "Table" {
		return w.rendering.Event(typ, obj)
	}
	w.rendering.Now = w.api.now()
	t, err := w.rendering.Table(
		[]*storage.Object{obj}, metav1.ListMeta{ResourceVersion: strconv.FormatInt(obj.Revision, 10)}, !w.tabled,
	)
	if err != nil {
		return nil, err
	}
	w.tabled = true
	object, err := w.rendering.Encode(t)
	if err != nil {
		return nil, err
	}
	return w.rendering.Frame(typ, object)
}
