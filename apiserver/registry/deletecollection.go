package registry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// collectionPage is the page size, in objects, of a DELETE of a collection (C-72).
const collectionPage = 10000

// DeleteCollection deletes each selected object separately, in key order and by the rules for a single object (C-78).
// It returns the objects as they were listed (C-72 to C-74). It stops at the first error other than NotFound. Objects
// that were deleted before stay deleted.
func (s *Registry) DeleteCollection(ctx context.Context, o *Operation, from *metainternal.ListOptions,
	opts *metav1.DeleteOptions, list lister) ([]*storage.Object, metav1.ListMeta, error) {
	page := *from
	whole := page.Limit <= 0
	if whole {
		page.Limit = collectionPage
	}
	if o.deletes = opts; !o.DryRun {
		s.by(o, nil)
	}
	var all []*storage.Object
	for {
		items, meta, err := list(ctx, o.Target, &page)
		if err != nil {
			return nil, meta, err
		}
		for _, item := range items {
			one := *o
			one.collection = true
			one.Namespace, one.Name = item.Meta.Namespace, item.Meta.Name
			if _, err := s.Delete(ctx, &one, opts.DeepCopy()); err != nil && !apierrors.IsNotFound(err) { // C-73
				return nil, meta, err
			}
		}
		all = append(all, items...)
		if !whole || meta.Continue == "" {
			return all, meta, nil
		}
		page.Continue, page.ResourceVersion, page.ResourceVersionMatch = meta.Continue, "", ""
	}
}
