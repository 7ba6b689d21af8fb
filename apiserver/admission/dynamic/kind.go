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

// patched returns the entry whose version an object has after the patch of a webhook with the version of an entry: a
// patch may also change apiVersion and kind. Upstream decodes the kind that the object names, and converts it to that
// of the request at the end of the phase, which fails for another kind than the resource's (ASW mutating/dispatcher.go:
// callAttrMutatingHook, Dispatch).
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
	if err == nil { // it is decoded before it is converted: its fields may not be those of the kind
		err = kjson.UnmarshalCaseSensitivePreserveInts(object, obj)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return nil, unknown(fmt.Sprintf(
		"converting (%s) to (%s.%s): unknown conversion", reflect.TypeOf(obj).Elem(), internal(want.Group), want.Kind,
	))
}

// unknown is an error that upstream makes no status of (AS pkg/endpoints/handlers/responsewriters: ErrorToAPIStatus).
func unknown(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: message,
	}}
}

// withDefaults sets what is missing in a kind (apimachinery pkg/runtime/serializer/json: gvkWithDefaults).
func withDefaults(kind *schema.GroupVersionKind, want schema.GroupVersionKind) {
	if kind.Kind == "" {
		kind.Kind = want.Kind
	}
	if kind.Version == "" && (kind.Group == "" || kind.Group == want.Group) {
		kind.Group, kind.Version = want.Group, want.Version
	}
}

// internal is the name of upstream's package with the internal version of a group.
func internal(group string) string {
	name, _, _ := strings.Cut(group, ".")
	if name == "" {
		return "core"
	}
	return name
}
