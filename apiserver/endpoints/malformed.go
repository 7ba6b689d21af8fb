package endpoints

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/storage"
)

// This file has kube-apiserver's feature gate AllowUnsafeMalformedObjectDeletion, which is beta and on by default since
// v1.37 (V-026; AS pkg/features/kube_features.go).

// deleteMalformedVerb is the verb that a user needs, besides delete, for the option.
const deleteMalformedVerb = "unsafe-delete-ignore-read-errors"

// deleteMalformed handles a DELETE of an object whose value can't be read (V-054).
func (a *API) deleteMalformed(req *request, rendering *render.Rendering, d *registry.Deletion) error {
	if err := req.authorizeMalformed(); err != nil {
		return err
	}
	req.Audit.Annotate("apiserver.k8s.io/unsafe-delete-ignore-read-error", "") // AS handlers/delete.go: DeleteResource
	out, err := a.Registry.DeleteMalformed(req.r.Context(), d)
	if err != nil {
		return err
	}
	return req.answerOtherKind(rendering, http.StatusOK, out)
}

// authorizeMalformed denies the option to users who lack the verb (AS handlers/delete.go: authorizeUnsafeDelete).
func (req *request) authorizeMalformed() error {
	cause := errors.New(
		registry.IgnoreReadError + " delete option is not allowed on a subresource or non-resource request",
	)
	if req.Subresource == nil {
		d := req.api.Registry.Authorizer.Authorize(req.info.AttributesAs(deleteMalformedVerb))
		if d.Allowed() {
			return nil
		}
		cause = fmt.Errorf("not permitted to do %q, reason: %s", deleteMalformedVerb, d.Reason())
	}
	return apierrors.NewForbidden(req.Resource.GroupResource(), req.Name, cause)
}

// noCollection rejects the option for a collection (AS handlers/delete.go: DeleteCollection).
func noCollection(opts *metav1.DeleteOptions) error {
	if !ignoresReadError(opts) {
		return nil
	}
	return invalid.Options("DeleteOptions", field.ErrorList{
		field.Invalid(field.NewPath(registry.IgnoreReadError), true,
			"is not allowed with DELETECOLLECTION, try again after removing the option")})
}

// omit records an object that a list can't show. It reports whether the list continues.
func omit(rendering *render.Rendering, obj *storage.Object, err error) (more bool) {
	rendering.Skip(obj, err)
	return rendering.Malformed == nil || rendering.Malformed.Add(obj.Key, err)
}

// omitted describes, in the log, the effect of an unreadable object on a list.
const omitted = "omitted from a list"

// omissions are the objects that a response omits.
type omissions struct {
	keys map[string]struct{}
	// first is the error of the first omitted object.
	first error
}

// skip records an object that the response omits.
func (req *request) skip(obj *storage.Object, err error) {
	req.api.Registry.Unreadable(obj.Key, err, omitted)
	if req.omitted.keys == nil {
		req.omitted = omissions{map[string]struct{}{}, err}
	}
	req.omitted.keys[obj.Key] = struct{}{}
}

// warnOfOmitted warns the client that the list is not complete.
func (req *request) warnOfOmitted() {
	n := len(req.omitted.keys)
	if n == 0 {
		return
	}
	why := strings.Map(func(r rune) rune { // the error may quote bytes that a header can't contain
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, req.omitted.first.Error())
	req.Warn.Add(fmt.Sprintf("%s that can't be read are missing from the list (%d): %s",
		req.Resource.GroupResource(), n, why))
}
