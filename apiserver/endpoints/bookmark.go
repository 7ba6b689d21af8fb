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

// bookmark sends a BOOKMARK event with the revision that the watch has reached. If end is set, the event marks the end
// of the initial events (H-27, H-28).
func (w *watch) bookmark(end bool) {
	if !w.opts.AllowWatchBookmarks || w.rev > w.api.Registry.Cache.Revision() {
		return // the cache has not reached the revision yet
	}
	obj, err := w.mark(end)
	switch {
	case err != nil:
	case w.req.Resource.Custom && w.rendering.Format.As == "": // a schema's defaults are not set in bookmarks
		var frame []byte
		if frame, err = w.rendering.Frame("BOOKMARK", obj.JSON); err == nil {
			err = w.out.write(frame)
		}
	default:
		err = w.emit("BOOKMARK", obj, nil)
	}
	if err != nil {
		w.api.Log.Warn("failed to send a bookmark", "err", err)
	}
}

// mark returns an object of the kind that has only a resourceVersion, and the fields that are encoded even if they are
// empty (AS cacher.go: newFunc).
func (w *watch) mark(end bool) (*storage.Object, error) {
	gvk := w.req.Resource.GroupVersionKind()
	obj := registry.Object(&unstructured.Unstructured{Object: map[string]any{}})
	if !w.req.Resource.Custom {
		gvk = w.req.Resource.Stored
		empty, err := resources.Scheme().New(gvk)
		if err != nil {
			return nil, err
		}
		obj = empty.(registry.Object)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	obj.SetResourceVersion(strconv.FormatInt(w.rev, 10))
	if end {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return &storage.Object{
		Revision: w.rev, JSON: data, Meta: storage.Meta{Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String()},
	}, nil
}
