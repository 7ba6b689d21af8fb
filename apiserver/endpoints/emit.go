package endpoints

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// share sets the keys by which this watch shares encoded events with others.
func (w *watch) share() {
	w.keys = nil
	if key := w.rendering.Key(); key != "" {
		w.keys = map[string]string{}
		for _, typ := range []string{"ADDED", "MODIFIED", "DELETED"} {
			w.keys[typ] = key + ";" + typ
		}
	}
}

// emit buffers one event. If other watches send the event in the same form, it is encoded once. A Table contains ages,
// so it is shared only within a second, and separately with and without column definitions.
func (w *watch) emit(typ string, obj *storage.Object, e *cache.Event) error {
	encode := func() ([]byte, error) { return w.encode(typ, obj) }
	var frame []byte
	var err error
	if key := w.keys[typ]; e != nil && key != "" {
		if w.rendering.Format.As == "Table" {
			key += fmt.Sprint(";", !w.tabled, w.api.Now().Unix())
		}
		frame, err = w.api.Registry.Cache.EncodedEvent(e, key, encode)
	} else {
		frame, err = encode()
	}
	switch {
	case status.Unconverted(err) != nil: // the object exists, so its event can't be omitted
		w.fail(err)
		return err
	case err != nil && w.req.r.Context().Err() != nil:
		return err
	case err != nil:
		w.api.Registry.Unreadable(obj.Key, err, "omitted from a watch")
		return nil
	}
	w.tabled = true
	if w.count == nil {
		w.count = w.api.Metrics.Events(w.req.Resource)
	}
	w.count.Inc()
	return w.out.write(frame)
}

// encode encodes an event. Only the first Table has column definitions.
func (w *watch) encode(typ string, obj *storage.Object) ([]byte, error) {
	if w.rendering.Format.As != "Table" {
		return w.rendering.Event(typ, obj)
	}
	w.rendering.Now = w.api.Now()
	t, err := w.rendering.Table(
		[]*storage.Object{obj}, metav1.ListMeta{ResourceVersion: strconv.FormatInt(obj.Revision, 10)}, !w.tabled,
	)
	if err != nil {
		return nil, err
	}
	object, err := w.rendering.Encode(t)
	if err != nil {
		return nil, err
	}
	return w.rendering.Frame(typ, object)
}
