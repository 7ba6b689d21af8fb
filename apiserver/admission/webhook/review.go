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

// Request is the data of a request that a webhook gets (L-65).
type Request struct {
	// Kind and Resource are those of the version in which the webhook gets the objects. RequestKind and RequestResource
	// are those of the request.
	Kind, RequestKind         schema.GroupVersionKind
	Resource, RequestResource schema.GroupVersionResource
	Subresource               string
	Name, Namespace           string
	Operation                 admissionv1.Operation
	User                      authorization.User
	DryRun                    bool
	// Object, OldObject and Options are JSON, or nil if there are none.
	Object, OldObject, Options []byte
}

// Response is a webhook's response. The keys of its audit annotations lack the webhook's name.
type Response = admissionv1.AdmissionResponse

// errVersions is the error for a webhook that supports no known version of AdmissionReview (L-64).
var errVersions = errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")

// version returns the first supported version of AdmissionReview.
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

// encode returns the AdmissionReview as JSON. Both versions have the same fields.
func (r *Request) encode(gv schema.GroupVersion, uid types.UID) ([]byte, error) {
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: gv.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: uid, Kind: metav1.GroupVersionKind(r.Kind), Resource: metav1.GroupVersionResource(r.Resource),
			SubResource: r.Subresource, RequestSubResource: r.Subresource, Name: r.Name, Namespace: r.Namespace,
			Operation: r.Operation, DryRun: &r.DryRun, UserInfo: authorization.InfoOf(r.User),
			RequestKind:     (*metav1.GroupVersionKind)(&r.RequestKind),
			RequestResource: (*metav1.GroupVersionResource)(&r.RequestResource),
			Object:          runtime.RawExtension{Raw: r.Object}, OldObject: runtime.RawExtension{Raw: r.OldObject},
			Options: runtime.RawExtension{Raw: r.Options},
		},
	}
	data, err := json.Marshal(&review)
	return append(data, '\n'), err
}

// reviews returns a decoder that is configured as upstream's (AS pkg/util/webhook/client.go: NewClientManager).
var reviews = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{admissionv1.AddToScheme, admissionv1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // can't happen: the versions register different types
		}
	}
	versions := []schema.GroupVersion{admissionv1.SchemeGroupVersion, admissionv1beta1.SchemeGroupVersion}
	return serializer.NewCodecFactory(scheme).LegacyCodec(versions...)
})

// maxValues limits the values in a response. Each may take a hundred bytes when it is decoded. A patch is one value.
const maxValues = 100_000

// decodeReview decodes the body of a response into a review.
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

// upstreamScheme replaces the name of our scheme in an error by that of upstream's.
func upstreamScheme(err error) error {
	const head, name = ` in scheme "`, `pkg/runtime/scheme.go:111"`
	before, _, found := strings.Cut(err.Error(), head)
	if !found || !runtime.IsNotRegisteredError(err) {
		return err
	}
	return errors.New(before + head + name)
}

// decode decodes and checks the response to the review with the uid (L-76 to L-78).
func decode(body []byte, gv schema.GroupVersion, uid types.UID, mutating bool) (*Response, error) {
	var review admissionv1.AdmissionReview
	var beta admissionv1beta1.AdmissionReview
	var into runtime.Object = &review
	if gv == admissionv1beta1.SchemeGroupVersion {
		into = &beta
	}
	if err := decodeReview(body, into); err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	var out *Response
	var err error
	if gv == admissionv1beta1.SchemeGroupVersion {
		out, err = fromBeta(beta.Response, mutating)
	} else {
		out, err = verify(&review, uid, mutating)
	}
	if err != nil {
		return nil, fmt.Errorf("received invalid webhook response: %w", err)
	}
	return out, nil
}

// errAbsent is the error for a review without a response.
var errAbsent = errors.New("webhook response was absent")

// fromBeta converts a response of v1beta1. Like upstream, it only checks that there is one.
func fromBeta(r *admissionv1beta1.AdmissionResponse, mutating bool) (*Response, error) {
	if r == nil {
		return nil, errAbsent
	}
	out := &Response{Allowed: r.Allowed, Result: r.Result, Warnings: r.Warnings, AuditAnnotations: r.AuditAnnotations}
	if mutating && len(r.Patch) > 0 {
		out.Patch, out.PatchType = r.Patch, new(admissionv1.PatchTypeJSONPatch)
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
	return r, verifyPatch(r, mutating)
}

// verifyPatch checks that the response of a mutating webhook has both patch and patchType, or neither, and that the
// response of a validating webhook has neither.
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
