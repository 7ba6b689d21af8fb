package render

import (
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// Stream returns a function that writes a list from the cached bytes, or item by item. It returns nil if the list has
// to be made as a whole.
func (x *Rendering) Stream(items []*storage.Object, meta metav1.ListMeta) (func(io.Writer) error, error) {
	switch {
	case x.binaryList():
		return x.ProtobufList(items, meta)
	case x.Format.Pretty:
	case x.plain() && x.ready(items):
		return func(w io.Writer) error { return x.plainList(w, items, meta) }, nil
	case x.partial("PartialObjectMetadataList"):
		return x.partialList(items, meta), nil
	}
	return nil, nil
}

// ready reports whether all objects are sent as they are stored.
func (x *Rendering) ready(items []*storage.Object) bool {
	return !x.Resource.Custom || !slices.ContainsFunc(items, func(o *storage.Object) bool { return !x.canonical(o) })
}
