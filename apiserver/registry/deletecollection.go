package registry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// collectionPage is how many objects one page of a collection's delete holds (C-72).
const collectionPage = 10000

// DeleteCollection deletes each object of the selection by itself, in key order, and returns them
// as they were listed (C-72 to C-74), each by the rules for one (C-78). The first error but NotFound ends it; what was
// deleted stays so.
func (s *Registry) DeleteCollection(ctx context.Context, o *Operation, from *metainternal.ListOptions,
	opts *metav1.DeleteOptions, list lister) ([]*storage.Object, metav1.ListMeta, error) {
	page := *from
	whole := page.Limit <= 0
	if whole {
		page.Limit = collectionPage
	}
	var all []*storage.Object
	for {
		items, meta, err := list(ctx, o.Target, &page)
		if err != nil {
			return nil, meta, err
		}
		for _, item := range items {
			one := *o
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
