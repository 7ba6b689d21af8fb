package dynamic

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// patched returns the entry of the version that an object has after a webhook's patch, which may change apiVersion and
// kind. in is the entry of its version before. Upstream decodes the object as the kind that it names and, at the end of
// the phase, converts it to the kind of the request. This fails for another kind than the resource's (ASW
// mutating/dispatcher.go: callAttrMutatingHook, Dispatch).
func (q *hookRequest) patched(in *resources.Resource, object []byte) (*resources.Resource, error) {
	want := q.view.kind(in)
	kind, err := json.DefaultMetaFactory.Interpret(object)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	unstructured := in.Custom && whole(q.a)
	if !unstructured {
		withDefaults(kind, want)
	}
	if *kind == want {
		return in, nil
	}
	if to := q.d.Types.Lookup(kind.Group, kind.Version, in.Plural); whole(q.a) && kind.Group == want.Group &&
		to != nil && to.GroupVersionKind() == *kind {
		return to, nil
	}
	switch {
	case unstructured && kind.Kind == "":
		return nil, apierrors.NewInternalError(runtime.NewMissingKindErr(string(object)))
	case unstructured && kind.Kind == want.Kind:
		return nil, unknown(fmt.Sprintf("request to convert CR from an invalid group/version: %s", kind.GroupVersion()))
	case unstructured:
		return nil, invalid.New(want.GroupKind(), q.name, field.ErrorList{
			field.Invalid(field.NewPath("kind"), kind.Kind, "must be "+want.Kind),
		})
	}
	obj, err := resources.Scheme().New(*kind)
	if err == nil { // upstream decodes before it converts: the fields may not be those of the kind
		err = kjson.UnmarshalCaseSensitivePreserveInts(object, obj)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return nil, unknown(fmt.Sprintf(
		"converting (%s) to (%s.%s): unknown conversion", reflect.TypeOf(obj).Elem(), internal(want.Group), want.Kind,
	))
}

// unknown returns an error 500 with only a message, as upstream returns for an error that is not a Status (AS
// pkg/endpoints/handlers/responsewriters: ErrorToAPIStatus).
func unknown(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: message,
	}}
}

// withDefaults sets the missing parts of a kind (apimachinery pkg/runtime/serializer/json: gvkWithDefaults).
func withDefaults(kind *schema.GroupVersionKind, want schema.GroupVersionKind) {
	if kind.Kind == "" {
		kind.Kind = want.Kind
	}
	if kind.Version == "" && (kind.Group == "" || kind.Group == want.Group) {
		kind.Group, kind.Version = want.Group, want.Version
	}
}

// internal returns the name of upstream's package with the internal version of a group.
func internal(group string) string {
	name, _, _ := strings.Cut(group, ".")
	if name == "" {
		return "core"
	}
	return name
}
