package customresource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
)

// webhookConversion is the strategy Webhook (AX pkg/apiserver/conversion/webhook_converter.go).
type webhookConversion struct {
	config  *apiextensionsv1.WebhookConversion
	clients *webhook.Clients
}

// clientConfig returns the address of the webhook. Calls are guarded. Otherwise a user who can write a CRD, or who runs
// its webhook, could make the server send objects to addresses that only the server can reach, and read their
// responses. (Upstream follows redirects, and its errors include 2 KB of a response, or the message of a Status.)
func (w *webhookConversion) clientConfig() *webhook.Config {
	c := w.config.ClientConfig
	return &webhook.Config{Guarded: true, WebhookClientConfig: admissionregistrationv1.WebhookClientConfig{
		URL: c.URL, Service: (*admissionregistrationv1.ServiceReference)(c.Service), CABundle: c.CABundle,
	}}
}

// convert calls the webhook once for all objects, but not for a single empty object. Errors have the index 0, because
// upstream calls the webhook once for each object.
func (w *webhookConversion) convert(
	ctx context.Context, objs []*unstructured.Unstructured, apiVersion string,
) ([]*unstructured.Unstructured, error) {
	if len(objs) == 1 && empty(objs[0]) {
		return renaming{}.convert(ctx, objs, apiVersion)
	}
	from := objs[0].GroupVersionKind()
	uid := uuid.NewUUID()
	response, err := w.review(ctx, uid, objs, apiVersion)
	if err != nil {
		return nil, fmt.Errorf("conversion webhook for %v failed: %w", from, err)
	}
	if len(response) != len(objs) {
		return nil, fmt.Errorf("conversion webhook for %v returned %d objects, expected %d", from, len(response), len(objs))
	}
	out := make([]*unstructured.Unstructured, len(objs))
	for i, raw := range response {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw.Raw); err != nil {
			return nil, err
		}
		from = objs[i].GroupVersionKind()
		want := schema.FromAPIVersionAndKind(apiVersion, from.Kind)
		if got := u.GroupVersionKind(); got.GroupVersion() != want.GroupVersion() {
			return nil, fmt.Errorf(
				"conversion webhook for %v returned invalid object at index 0: invalid groupVersion (expected %v, received %v)",
				from, want.GroupVersion(), got.GroupVersion(),
			)
		} else if got.Kind != want.Kind {
			return nil, fmt.Errorf(
				"conversion webhook for %v returned invalid object at index 0: invalid kind (expected %v, received %v)", from,
				want.Kind, got.Kind,
			)
		}
		if err := sameObject(objs[i], u); err != nil {
			return nil, fmt.Errorf("conversion webhook for %v returned invalid object: %w", from, err)
		}
		if err := keepMeta(objs[i], u); err != nil {
			return nil, fmt.Errorf("conversion webhook for %v returned invalid metadata: %w", from, err)
		}
		out[i] = u
	}
	return out, nil
}

// empty reports whether an object has only apiVersion and kind.
func empty(u *unstructured.Unstructured) bool {
	return len(u.Object) == 2 && u.GetAPIVersion() != "" && u.GetKind() != ""
}

// review sends a ConversionReview of the first version that both sides support, and decodes the response.
func (w *webhookConversion) review(
	ctx context.Context, uid types.UID, objs []*unstructured.Unstructured, apiVersion string,
) ([]runtime.RawExtension, error) {
	version := ""
	for _, v := range w.config.ConversionReviewVersions {
		if v == "v1" || v == "v1beta1" { // both have the same JSON
			version = v
			break
		}
	}
	if version == "" {
		return nil, errors.New("no supported conversion review versions")
	}
	r := apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{Kind: "ConversionReview", APIVersion: apiextensionsv1.GroupName + "/" + version},
		Request:  &apiextensionsv1.ConversionRequest{UID: uid, DesiredAPIVersion: apiVersion},
		Response: &apiextensionsv1.ConversionResponse{ConvertedObjects: []runtime.RawExtension{}},
	}
	for _, u := range objs {
		r.Request.Objects = append(r.Request.Objects, runtime.RawExtension{Object: u})
	}
	response := apiextensionsv1.ConversionReview{}
	data, err := json.Marshal(r)
	if err == nil {
		err = w.clients.Call(ctx, w.clientConfig(), data, nil, func(body []byte) error {
			if err := json.Unmarshal(body, &response); err != nil {
				return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
			}
			return nil
		})
	}
	var code webhook.UnexpectedCode
	if errors.As(err, &code) {
		err = fmt.Errorf("%w instead of a ConversionReview", code)
	}
	if err != nil {
		return nil, err
	}
	return checkResponse(&response, version, uid)
}

// checkResponse returns the objects of a successful response. Like upstream, it checks kind and UID only for v1.
func checkResponse(a *apiextensionsv1.ConversionReview, version string, uid types.UID) ([]runtime.RawExtension, error) {
	if want := apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"); version == "v1" &&
		a.GroupVersionKind() != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, a.GroupVersionKind())
	}
	switch r := a.Response; {
	case r == nil:
		return nil, errors.New("no response provided")
	case version == "v1" && r.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, r.UID)
	case r.Result.Status == metav1.StatusSuccess:
		return r.ConvertedObjects, nil
	case r.Result.Message != "":
		return nil, errors.New(r.Result.Message)
	default:
		return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", r.Result.Status)
	}
}
