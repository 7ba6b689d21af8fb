package apiserver

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// collectionPage is how many objects one page of a collection's delete holds (C-72).
const collectionPage = 10000

// serveDeleteCollection is DELETE of a collection (C.7).
func (s *Server) serveDeleteCollection(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	query := queryOf(q.r)
	list, err := q.listOptions(query) // C-70
	if err != nil {
		return err
	}
	if _, err := s.registry.selectionOf(q.target, list); err != nil { // before the body is read
		return err
	}
	opts, err := s.deleteOptions(q.r)
	if err != nil {
		return err
	}
	if err := noCollection(opts); err != nil {
		return err
	}
	if s.config.DeleteMalformed {
		x.malformed = &malformed{}
	}
	q.dryRun = isDryRun(opts.DryRun)
	q.warnOfPolicy(opts)
	items, meta, err := s.registry.deleteCollection(q.r.Context(), &q.op, list, opts, func(ctx context.Context, t target, o *metainternal.ListOptions) ([]*storage.Object, metav1.ListMeta, error) {
		return s.list(ctx, t, o, x)
	})
	if err != nil {
		return err
	}
	q.without = func() error { // an error would say that nothing was deleted
		kind := metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		return q.answerOther(x, http.StatusOK, &metav1.Status{TypeMeta: kind, Status: metav1.StatusSuccess})
	}
	return q.answerList(x, items, meta)
}

// deleteCollection deletes each object of the selection by itself, in key order, and returns them
// as they were listed (C-72 to C-74), each by the rules for one (C-78). The first error but NotFound ends it; what was deleted stays so.
func (s *registry) deleteCollection(ctx context.Context, o *op, from *metainternal.ListOptions, opts *metav1.DeleteOptions, list lister) ([]*storage.Object, metav1.ListMeta, error) {
	page := *from
	whole := page.Limit <= 0
	if whole {
		page.Limit = collectionPage
	}
	var all []*storage.Object
	for {
		items, meta, err := list(ctx, o.target, &page)
		if err != nil {
			return nil, meta, err
		}
		for _, item := range items {
			one := *o
			one.namespace, one.name = item.Meta.Namespace, item.Meta.Name
			if _, err := s.delete(ctx, &one, opts.DeepCopy()); err != nil && !apierrors.IsNotFound(err) { // C-73
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
