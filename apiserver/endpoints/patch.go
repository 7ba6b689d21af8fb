package endpoints

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// servePatch handles a PATCH of an object, or of a subresource that is a part of its object (B.5).
func (a *API) servePatch(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	p, opts, err := req.patch()
	if err != nil {
		return err
	}
	var out *storage.Object
	created := false
	if p.Kind == types.ApplyYAMLPatchType {
		out, created, err = a.Registry.Apply(req.r.Context(), &registry.Creation{
			Request: &req.Request, Options: opts, MayCreate: req.authorizeCreate,
		}, p)
	} else {
		out, err = a.Registry.Patch(req.r.Context(), &registry.Change{
			Request: &req.Request, Manager: p.Manager, Options: opts,
		}, p)
	}
	if err != nil {
		return err
	}
	return req.answer(rendering, codeOf(created), out)
}

// patch reads the request's options and document.
func (req *request) patch() (codec.Patch, *metav1.PatchOptions, error) {
	media := patchMedia(req.r)
	p := codec.Patch{Kind: types.PatchType(media), Warn: func(text string) { codec.WarnStrict(text, req.Warn.Add) }}
	if !slices.Contains(codec.PatchTypes(req.Resource), media) {
		return p, nil, negotiation.NewUnsupportedMediaTypeError(codec.PatchTypes(req.Resource)) // B-50
	}
	p.Bytes = req.info.Body
	validate := func(o *metav1.PatchOptions) field.ErrorList {
		return metav1validation.ValidatePatchOptions(o, p.Kind) // B-59
	}
	opts, err := options(requestinfo.Query(req.r), "PatchOptions", &metav1.PatchOptions{}, validate)
	if err != nil {
		return p, nil, err
	}
	req.DryRun, p.Manager = registry.IsDryRun(opts.DryRun), req.managerOr(opts.FieldManager)
	p.Force = opts.Force != nil && *opts.Force
	if p.Strictness = opts.FieldValidation; p.Strictness == "" {
		p.Strictness = metav1.FieldValidationWarn
	}
	return p, opts, req.checkPatch(p)
}

// checkPatch returns an error for a patch that takes too much memory to decode, and for an apply document that can't be
// read or applied, before the object is looked up. A patch that is neither JSON nor YAML is not recorded (V-070,
// V-123).
func (req *request) checkPatch(p codec.Patch) error {
	body := codec.Body{Bytes: p.Bytes, Media: codec.MediaJSON}
	if p.Kind == types.ApplyPatchType {
		body.Media = codec.MediaYAML
	}
	body, err := codec.CheckCost(body)
	switch {
	case p.Kind == types.ApplyPatchType:
		if err != nil {
			return unreadable(p.Bytes, err)
		}
		req.Audit.Patch(body.Bytes) // as JSON (O-09)
		return codec.CheckApplied(body.Bytes, req.Resource.GroupVersionKind())
	case !json.Valid(p.Bytes):
		return status.BadRequest("invalid JSON patch")
	}
	if err == nil {
		req.Audit.Patch(p.Bytes)
		return nil
	}
	req.Audit.MalformedPatch(p.Bytes) // its length is limited, but not the memory for decoding it
	if apierrors.IsRequestEntityTooLargeError(err) {
		return err
	}
	return status.BadRequest("error decoding patch: %v", err)
}

// unreadable returns the error for an apply document that can't be read. If it begins like JSON, upstream decodes it at
// a later step, with another message (B-60, V-070; AS handlers/patch.go: validateAndTranscodePatch).
func unreadable(document []byte, err error) error {
	switch {
	case apierrors.IsRequestEntityTooLargeError(err):
		return err
	case !utilyaml.IsJSONBuffer(document):
		return status.BadRequest("error encoding patch: %v", err)
	}
	if _, e := yaml.YAMLToJSON(document); e != nil {
		err = fmt.Errorf("error converting YAML to JSON: %w", e)
	}
	return status.BadRequest("error decoding patch: %v", err)
}

// patchMedia returns the media type of a patch without its parameters.
func patchMedia(r *http.Request) string {
	media := r.Header.Get("Content-Type")
	if i := strings.IndexByte(media, ';'); i > 0 {
		media = media[:i]
	}
	return media
}
