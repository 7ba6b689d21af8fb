package endpoints

import (
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// bookmark tells the client the revision that the watch has reached; end marks the end of the initial events
// (H-27, H-28).
func (w *watch) bookmark(end bool) {
	if !w.o.AllowWatchBookmarks || w.rev > w.api.registry.Cache.Revision() {
		return // the cache has not reached it yet
	}
	o, err := w.mark(end)
	switch {
	case err != nil:
	case w.q.Resource.Custom && w.x.Format.As == "": // a schema's defaults are not for bookmarks
		var frame []byte
		if frame, err = w.x.Frame("BOOKMARK", o.JSON); err == nil {
			err = w.out.write(frame)
		}
	default:
		err = w.emit("BOOKMARK", o, nil)
	}
	if err != nil {
		w.api.log.Warn("failed to send a bookmark", "err", err)
	}
}

// mark is an object of the kind that has only a revision, and the fields that are encoded even if they are empty
// (AS cacher.go: newFunc).
func (w *watch) mark(end bool) (*storage.Object, error) {
	gvk := w.q.Resource.GroupVersionKind()
	o := registry.Object(&unstructured.Unstructured{Object: map[string]any{}})
	if !w.q.Resource.Custom {
		gvk = w.q.Resource.Stored
		empty, err := resources.Scheme().New(gvk)
		if err != nil {
			return nil, err
		}
		o = empty.(registry.Object)
	}
	o.GetObjectKind().SetGroupVersionKind(gvk)
	o.SetResourceVersion(strconv.FormatInt(w.rev, 10))
	if end {
		o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return &storage.Object{
		Revision: w.rev, JSON: data, Meta: storage.Meta{Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String()},
	}, nil
}
