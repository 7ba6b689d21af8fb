package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// maxPatchOperations limits the operations of a JSON patch (B-52).
const maxPatchOperations = 10000

// LimitCopies limits the bytes that a JSON patch copies, including those of webhooks, to the size of a body (AS
// pkg/server/config.go: JSONPatchMaxCopyBytes). The library has one limit for the process. LimitCopies must be called
// before the first patch.
var LimitCopies = sync.OnceFunc(func() { jsonpatch.AccumulatedCopySizeLimit = MaxBody })

// Patch is the body of a PATCH request.
type Patch struct {
	Kind  types.PatchType
	Bytes []byte
	// Strictness is the option fieldValidation: Ignore, Warn or Strict.
	Strictness string
	// Manager is the field manager of an apply, or of a patch of a Scale.
	Manager string
	// Force reports whether server-side apply takes over fields from other managers.
	Force bool
	// Warn is called with the warnings of field validation.
	Warn func(string)
}

// PatchTypes returns the media types of supported patches. Custom resources have no strategic merge (B-50).
func PatchTypes(res *resources.Resource) []string {
	all := []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType),
		string(types.ApplyYAMLPatchType)}
	if res.Custom {
		return slices.Delete(all, 2, 3)
	}
	return all
}

// Apply returns the patched object. It does not modify cur.
func (p *Patch) Apply(cur runtime.Object, gvk schema.GroupVersionKind, coerce Coercion) (runtime.Object, error) {
	if p.Kind == types.StrategicMergePatchType {
		return p.strategic(cur, gvk)
	}
	before, err := json.Marshal(cur)
	if err != nil {
		return nil, err
	}
	after, strict, err := p.edit(before)
	if err != nil {
		return nil, err
	}
	return p.decode(after, strict, gvk, coerce)
}

// edit applies a JSON or merge patch to a JSON document. strict are the errors of field validation in the patch itself.
func (p *Patch) edit(before []byte) (after []byte, strict []error, err error) {
	if p.Kind == types.JSONPatchType {
		return p.operations(before)
	}
	if p.Strictness != metav1.FieldValidationIgnore {
		v := map[string]any{}
		if strict, err = kjson.UnmarshalStrict(p.Bytes, &v); err != nil { // B-53
			return nil, nil, status.BadRequest("error decoding patch: %v", err)
		}
	}
	after, err = jsonpatch.MergePatch(before, p.Bytes)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		err = status.BadRequest("%v", err)
	}
	return after, strict, err
}

// operations applies a JSON patch (B-52).
func (p *Patch) operations(before []byte) (after []byte, strict []error, err error) {
	if p.Strictness != metav1.FieldValidationIgnore {
		var ops []jsonPatchOp
		if strict, err = kjson.UnmarshalStrict(p.Bytes, &ops); err != nil {
			return nil, nil, status.BadRequest("error decoding patch: %s",
				strings.ReplaceAll(err.Error(), "codec.jsonPatchOp", "handlers.jsonPatchOp"))
		}
		for i, e := range strict {
			strict[i] = fmt.Errorf("json patch %v", e)
		}
	}
	LimitCopies()
	ops, err := jsonpatch.DecodePatch(p.Bytes)
	if err != nil {
		return nil, nil, status.BadRequest("%v", err)
	}
	if len(ops) > maxPatchOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(ops)))
	}
	if err := checkOperations(before, ops); err != nil {
		return nil, nil, err
	}
	if after, err = ops.Apply(before); err != nil {
		return nil, nil, unprocessable(err)
	}
	return after, strict, nil
}

// jsonPatchOp is one operation. The error message for a malformed patch contains the name of the type.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "",
		err.Error(), 0, false)
}

// unreadable returns the error 422 for a patch whose result can't be decoded as the kind. shown is the value in its
// message (B-55).
func unreadable(shown string, err error) error {
	return invalid.New(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), shown, err.Error())})
}

// Unconvertible returns the error for a patched object that can't be converted to the stored version. For a strategic
// merge patch it is the error of the conversion (AS handlers/patch.go: jsonPatcher, smpPatcher).
func (p *Patch) Unconvertible(patched runtime.Object, err error) error {
	if p.Kind == types.StrategicMergePatchType {
		return err
	}
	shown, encodeErr := json.Marshal(patched)
	if encodeErr != nil {
		return encodeErr
	}
	return unreadable(string(shown), err)
}

// decode decodes the patched document as the kind (B-55, B-71).
func (p *Patch) decode(after []byte, strict []error, gvk schema.GroupVersionKind,
	coerce Coercion) (runtime.Object, error) {
	shown := string(after)
	body := Body{Bytes: after, Media: MediaJSON, Strictness: p.Strictness}
	obj, got, err := DecodeAny(body, gvk, coerce)
	if more, ok := runtime.AsStrictDecodingError(err); ok {
		strict, err = append(strict, more.Errors()...), nil
	}
	switch {
	case err != nil && runtime.IsNotRegisteredError(err) && got != nil:
		return nil, unreadable(shown, NotRegistered(*got))
	case err != nil:
		return nil, unreadable(shown, err)
	case *got != gvk && coerce == nil: // the validation of a custom resource reports it
		return nil, unreadable(shown, unknownConversion(*got, gvk))
	}
	return obj, p.report(strict, shown)
}

// report converts the errors of field validation to warnings or an error (B-71).
func (p *Patch) report(strict []error, shown string) error {
	if len(strict) == 0 || p.Strictness == metav1.FieldValidationIgnore {
		return nil
	}
	if p.Strictness == metav1.FieldValidationStrict {
		return unreadable(shown, runtime.NewStrictDecodingError(strict))
	}
	for _, e := range strict {
		p.Warn(e.Error())
	}
	return nil
}

// strategic applies a strategic merge patch, by the patch tags of the kind (B-54).
func (p *Patch) strategic(cur runtime.Object, gvk schema.GroupVersionKind) (runtime.Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cur)
	if err != nil {
		return nil, err
	}
	doc := map[string]any{}
	strict, err := kjson.UnmarshalStrict(p.Bytes, &doc)
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	if err := checkMerge(content, doc); err != nil {
		return nil, err
	}
	shown := fmt.Sprintf("%+v", doc)
	merged, err := mergeStrategic(content, doc, cur)
	if err != nil {
		return nil, strategicError(err)
	}
	if err := p.checkMerged(merged, gvk); err != nil {
		return nil, unreadable(shown, err)
	}
	next, err := resources.Scheme().New(gvk)
	if err != nil {
		return nil, err
	}
	// The conversion ignores kind and apiVersion in the patch.
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(merged, next,
		p.Strictness != metav1.FieldValidationIgnore)
	if more, ok := runtime.AsStrictDecodingError(err); ok {
		unknown := more.Errors() // in map order
		slices.SortFunc(unknown, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		strict, err = append(strict, unknown...), nil
	}
	if err != nil {
		return nil, unreadable(shown, err)
	}
	return next, p.report(strict, shown)
}

// checkMerged checks the quantities of the merged object, if the patch has a number that takes too long to parse.
func (p *Patch) checkMerged(merged map[string]any, gvk schema.GroupVersionKind) error {
	return CheckQuantities(Body{Bytes: p.Bytes, Media: MediaJSON}, func(Body) error {
		data, err := json.Marshal(merged)
		if err != nil {
			return err
		}
		return checkQuantities(data, gvk)
	})
}

// mergeStrategic merges doc into content. The library panics if the items of a directive don't have the type of its
// tags, such as "$setElementOrder/finalizers": [{}]. The panic becomes an error of the patch.
func mergeStrategic(content, doc map[string]any, kind runtime.Object) (merged map[string]any, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: %v", mergepatch.ErrBadJSONDoc, reason)
		}
	}()
	return strategicpatch.StrategicMergeMapPatch(content, doc, kind)
}

// strategicError converts an error of a strategic merge to an API error, if it has one (B-54, 0-10; AS
// handlers/patch.go: interpretStrategicMergePatchError).
func strategicError(err error) error {
	switch {
	case errors.Is(err, mergepatch.ErrBadJSONDoc), errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList),
		errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys),
		errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList),
		errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return status.BadRequest("%v", err)
	case errors.Is(err, mergepatch.ErrNoListOfLists), errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return unprocessable(err)
	}
	return err
}
