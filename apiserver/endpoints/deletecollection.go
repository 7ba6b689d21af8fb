package endpoints

import (
	"context"
	"errors"
	"net/http"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// serveDeleteCollection handles a DELETE of a collection (C.7).
func (a *API) serveDeleteCollection(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	query := requestinfo.Query(req.r)
	listOpts, err := listOptions(query) // C-70
	if err != nil {
		return err
	}
	if _, err := a.Registry.SelectionOf(req.Target, listOpts); err != nil { // before the options are validated
		return err
	}
	opts, err := req.deleteOptions()
	if err != nil {
		return err
	}
	req.recordOptions(opts)
	if err := noCollection(opts); err != nil {
		return err
	}
	if a.DeleteMalformed {
		rendering.Malformed = &render.Malformed{}
	}
	req.DryRun = registry.IsDryRun(opts.DryRun)
	d := &registry.Deletion{Request: &req.Request, Options: opts}
	d.WarnOfPolicy()
	items, meta, err := a.Registry.DeleteCollection(req.r.Context(), d, listOpts, func(
		ctx context.Context, target registry.Target, page *metainternal.ListOptions,
	) ([]*storage.Object, metav1.ListMeta, error) {
		return a.list(ctx, target, page, rendering, unreserved)
	})
	if err != nil {
		return err
	}
	err = req.answerList(rendering, items, meta)
	// An error would tell the client that nothing was deleted, so a list that is too large becomes a Status of success.
	if errors.Is(err, status.ErrFull) || errors.Is(err, status.ErrTooLarge) {
		kind := metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		return req.answerOtherKind(rendering, http.StatusOK, &metav1.Status{TypeMeta: kind, Status: metav1.StatusSuccess})
	}
	return err
}
