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

// share sets the keys by which watches share encoded events.
func (w *watch) share() {
	w.keys = nil
	if key := w.rendering.Key(); key != "" {
		w.keys = map[string]string{}
		for _, typ := range []string{"ADDED", "MODIFIED", "DELETED"} {
			w.keys[typ] = key + ";" + typ
		}
	}
}

// emit buffers one event. One that other watches send in the same form is encoded once.
func (w *watch) emit(typ string, obj *storage.Object, e *cache.Event) error {
	encode := func() ([]byte, error) { return w.frame(typ, obj) }
	var frame []byte
	var err error
	if key := w.keys[typ]; e != nil && key != "" {
		frame, err = shared(e, key, encode)
	} else {
		frame, err = encode()
	}
	if sends, err := w.emitted(obj, err); !sends {
		return err
	}
	return w.out.write(frame)
}

// shared returns what the first watcher of an event has made for a key.
func shared(e *cache.Event, key string, encode func() ([]byte, error)) (data []byte, err error) {
	if data, ok := e.Made(key); ok && len(data) > 0 {
		return data, nil
	}
	data = e.Memo(key, func() (data []byte) {
		data, err = encode()
		return data
	})
	if len(data) == 0 && err == nil { // another watcher failed to make it
		return encode()
	}
	return data, err
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

// emitted counts an event, or handles the error of encoding it. sends reports whether the event is sent.
func (w *watch) emitted(obj *storage.Object, failed error) (sends bool, err error) {
	if status.Unconverted(failed) != nil { // the object exists, so the client must not take its cache for complete
		w.fail(failed)
		return false, failed
	}
	if failed != nil && w.req.r.Context().Err() != nil {
		return false, failed
	}
	if failed != nil {
		w.api.registry.Unreadable(obj.Key, failed, "omitted from a watch")
		return false, nil
	}
	if w.count == nil {
		w.count = w.api.metrics.Events(w.req.Resource)
	}
	w.count.Inc()
	return true, nil
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
