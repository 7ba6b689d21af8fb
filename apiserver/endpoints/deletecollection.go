package endpoints

import (
	"context"
	"net/http"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/storage"
)

// serveDeleteCollection is DELETE of a collection (C.7).
func (a *API) serveDeleteCollection(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	query := exchange.Query(q.r)
	list, err := q.listOptions(query) // C-70
	if err != nil {
		return err
	}
	if _, err := a.registry.SelectionOf(q.Target, list); err != nil { // before the body is read
		return err
	}
	opts, err := a.deleteOptions(q.r)
	if err != nil {
		return err
	}
	q.recordOptions(opts)
	if err := noCollection(opts); err != nil {
		return err
	}
	if a.malformed {
		x.Malformed = &render.Malformed{}
	}
	q.Options, q.DryRun = opts, registry.IsDryRun(opts.DryRun)
	q.WarnOfPolicy(opts)
	items, meta, err := a.registry.DeleteCollection(q.r.Context(), &q.Operation, list, opts, func(
		ctx context.Context, t registry.Target, o *metainternal.ListOptions,
	) ([]*storage.Object, metav1.ListMeta, error) {
		return a.list(ctx, t, o, x)
	})
	if err != nil {
		return err
	}
	q.without = func() error { // an error would mean that nothing was deleted
		kind := metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		return q.answerOther(x, http.StatusOK, &metav1.Status{TypeMeta: kind, Status: metav1.StatusSuccess})
	}
	return q.answerList(x, items, meta)
}
