package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Request is what a webhook gets of a request (L-65).
type Request struct {
	// Kind and Resource are those in which the webhook gets the objects; RequestKind and RequestResource the request's.
	Kind, RequestKind         schema.GroupVersionKind
	Resource, RequestResource schema.GroupVersionResource
	Subresource               string
	Name, Namespace           string
	Operation                 admissionv1.Operation
	User                      authorization.User
	DryRun                    bool
	// Object, OldObject and Options are JSON; nil for none.
	Object, OldObject, Options []byte
}

// Response is a webhook's response.
type Response struct {
	Allowed bool
	// Result is the Status of a denial; nil for none.
	Result *metav1.Status
	// Patch is of the type PatchType.
	Patch     []byte
	PatchType admissionv1.PatchType
	Warnings  []string
	// AuditAnnotations have keys without the webhook's name.
	AuditAnnotations map[string]string
}

// errVersions: none of a webhook's versions of reviews is known (L-64).
var errVersions = errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")

// version returns the first of the versions that is known.
func version(accepted []string) (schema.GroupVersion, error) {
	for _, v := range accepted {
		switch v {
		case admissionv1.SchemeGroupVersion.Version:
			return admissionv1.SchemeGroupVersion, nil
		case admissionv1beta1.SchemeGroupVersion.Version:
			return admissionv1beta1.SchemeGroupVersion, nil
		}
	}
	return schema.GroupVersion{}, errVersions
}

// encode makes the AdmissionReview. Those of both versions have the same fields.
func (r *Request) encode(gv schema.GroupVersion, uid types.UID) ([]byte, error) {
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: gv.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: uid, Kind: metav1.GroupVersionKind(r.Kind), Resource: metav1.GroupVersionResource(r.Resource),
			SubResource: r.Subresource, RequestSubResource: r.Subresource, Name: r.Name, Namespace: r.Namespace,
			Operation: r.Operation, DryRun: &r.DryRun, UserInfo: r.User.Info(),
			RequestKind:     (*metav1.GroupVersionKind)(&r.RequestKind),
			RequestResource: (*metav1.GroupVersionResource)(&r.RequestResource),
			Object:          runtime.RawExtension{Raw: r.Object}, OldObject: runtime.RawExtension{Raw: r.OldObject},
			Options: runtime.RawExtension{Raw: r.Options},
		},
	}
	data, err := json.Marshal(&review)
	return append(data, '\n'), err
}

// reviews decodes as upstream's client does (AS pkg/util/webhook/client.go: NewClientManager).
var reviews = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{admissionv1.AddToScheme, admissionv1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // both have types of their own
		}
	}
	versions := []schema.GroupVersion{admissionv1.SchemeGroupVersion, admissionv1beta1.SchemeGroupVersion}
	return serializer.NewCodecFactory(scheme).LegacyCodec(versions...)
})

// maxValues bounds the values in a response, each of which may take a hundred bytes when it is decoded. A patch is one.
const maxValues = 100_000

// decodeReview decodes a response's body into a review of the version.
func decodeReview(body []byte, into runtime.Object) error {
	if bytes.Count(body, []byte{','}) > maxValues {
		return fmt.Errorf("the response has more than %d values", maxValues)
	}
	out, _, err := reviews().Decode(body, nil, into)
	if err != nil {
		return upstreamScheme(err)
	}
	if st, ok := out.(*metav1.Status); ok && st.Status != metav1.StatusSuccess {
		return errors.New(st.Message)
	}
	return nil
}

// upstreamScheme gives an error that names our scheme the name of upstream's.
func upstreamScheme(err error) error {
	const head, name = ` in scheme "`, `pkg/runtime/scheme.go:111"`
	before, _, found := strings.Cut(err.Error(), head)
	if !found || !runtime.IsNotRegisteredError(err) {
		return err
	}
	return errors.New(before + head + name)
}

// decode reads the body of a response to the review with the uid (L-76 to L-78).
func decode(body []byte, gv schema.GroupVersion, uid types.UID, mutating bool) (*Response, error) {
	if gv == admissionv1beta1.SchemeGroupVersion {
		var review admissionv1beta1.AdmissionReview
		if err := decodeReview(body, &review); err != nil {
			return nil, fmt.Errorf("failed to call webhook: %w", err)
		}
		out, err := fromBeta(review.Response, mutating)
		return out, invalidResponse(err)
	}
	var review admissionv1.AdmissionReview
	if err := decodeReview(body, &review); err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	out, err := verify(&review, uid, mutating)
	return out, invalidResponse(err)
}

func invalidResponse(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("received invalid webhook response: %w", err)
}

// errAbsent: a review has no response.
var errAbsent = errors.New("webhook response was absent")

// fromBeta reads a response of v1beta1, of which upstream checks nothing else.
func fromBeta(r *admissionv1beta1.AdmissionResponse, mutating bool) (*Response, error) {
	if r == nil {
		return nil, errAbsent
	}
	out := &Response{Allowed: r.Allowed, Result: r.Result, Warnings: r.Warnings, AuditAnnotations: r.AuditAnnotations}
	if mutating && len(r.Patch) > 0 {
		out.Patch, out.PatchType = r.Patch, admissionv1.PatchTypeJSONPatch
	}
	return out, nil
}

// verify checks a response of v1, in upstream's order.
func verify(review *admissionv1.AdmissionReview, uid types.UID, mutating bool) (*Response, error) {
	r, want := review.Response, admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")
	switch {
	case r == nil:
		return nil, errAbsent
	case r.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, r.UID)
	case review.GroupVersionKind() != want:
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, review.GroupVersionKind())
	}
	if err := verifyPatch(r, mutating); err != nil {
		return nil, err
	}
	out := &Response{
		Allowed: r.Allowed, Result: r.Result, Patch: r.Patch, Warnings: r.Warnings, AuditAnnotations: r.AuditAnnotations,
	}
	if r.PatchType != nil {
		out.PatchType = *r.PatchType
	}
	return out, nil
}

// verifyPatch checks that patch and patchType are both there or both absent, for a validating webhook absent.
func verifyPatch(r *admissionv1.AdmissionResponse, mutating bool) error {
	patched, typed := len(r.Patch) > 0, r.PatchType != nil
	switch {
	case !mutating && patched:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && typed:
		return errors.New("validating webhook may not return response.patchType")
	case patched && !typed:
		return errors.New("webhook returned response.patch but not response.patchType")
	case typed && !patched:
		return errors.New("webhook returned response.patchType but not response.patch")
	case typed && *r.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *r.PatchType)
	}
	return nil
}
