package endpoints

import (
	"cmp"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/gzipped"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// eventKeys are the keys by which watchers share an encoded event, and a compressed one.
type eventKeys struct{ plain, packed string }

// share sets the keys by which watchers share encoded events, and counts a compressed watch among those that share
// compressed ones. unshare must be called after the last call.
func (w *watch) share() {
	w.unshare()
	w.keys = nil
	key := w.rendering.Key()
	if key == "" {
		return
	}
	if w.packing != nil {
		w.sharing, w.leave = w.api.watches.compressed.join(w.req.Resource.Collection + ";" + key + w.rendering.Reach.Key())
	}
	w.keys = map[string]eventKeys{}
	for _, typ := range []string{"ADDED", "MODIFIED", "DELETED"} {
		plain := key + ";" + typ
		w.keys[typ] = eventKeys{plain, plain + ";gzip" + w.rendering.Reach.Key()}
	}
}

// unshare ends what share has begun.
func (w *watch) unshare() {
	if w.leave != nil {
		w.leave()
	}
	w.sharing, w.leave = nil, nil
}

// emit buffers one event. One that other watchers send in the same form is encoded, and compressed, once.
func (w *watch) emit(typ string, obj *storage.Object, e *cache.Event) error {
	keys := w.keys[typ]
	encode := func() ([]byte, error) { return w.frame(typ, obj) }
	if e == nil || keys.plain == "" {
		frame, err := encode()
		if sends, err := w.emitted(obj, err); !sends {
			return err
		}
		return w.out.write(frame)
	}
	// Events that no other watch sends in this form are compressed together, when they are sent.
	if w.packing == nil || w.sharing.Load() < 2 {
		frame, err := shared(e, keys.plain, encode)
		if sends, err := w.emitted(obj, err); !sends {
			return err
		}
		return w.out.write(frame)
	}
	data, err := shared(e, keys.packed, func() ([]byte, error) { return w.pack(encode) })
	if sends, err := w.emitted(obj, err); !sends {
		return err
	}
	f := gzipped.Parse(data)
	return w.packing.writeFragment(&f)
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

// pack compresses a frame.
func (w *watch) pack(encode func() ([]byte, error)) ([]byte, error) {
	frame, err := encode()
	if err != nil {
		return nil, err
	}
	f, err := compress(w.rendering.Reach, frame)
	if err != nil {
		return nil, err
	}
	return f.Bytes(), nil
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
	w.counts(1)
	return true, nil
}

// counts counts events.
func (w *watch) counts(n int) {
	if w.count == nil {
		w.count = w.api.metrics.Events(w.req.Resource)
	}
	w.count.Add(float64(n))
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
