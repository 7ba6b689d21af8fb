package customresource

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

const (
	// webhookTimeout is the time limit of one call (apiserver/pkg/util/webhook/authentication.go).
	webhookTimeout = 30 * time.Second
	// maxReview is the maximum size of a webhook's response, in bytes.
	maxReview = 256 << 20
)

// errNoNetwork is the error for a webhook that is configured by a service.
var errNoNetwork = errors.New("this server has no cluster network, so a webhook can only be reached by its url")

// webhook is the strategy Webhook (AX pkg/apiserver/conversion/webhook_converter.go).
type webhook struct {
	config *apiextensionsv1.WebhookConversion
	// client is made when it is first needed.
	client func() (*http.Client, error)
}

func newWebhook(c *apiextensionsv1.WebhookConversion) *webhook {
	w := &webhook{config: c}
	w.client = sync.OnceValues(w.dialer)
	return w
}

// dialer makes the client. Its idle connections are closed after a while.
func (w *webhook) dialer() (*http.Client, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, IdleConnTimeout: webhookTimeout, TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig: &tls.Config{},
	}
	if ca := bytes.TrimSpace(w.config.ClientConfig.CABundle); len(ca) > 0 {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	return &http.Client{Transport: t, Timeout: webhookTimeout, CheckRedirect: noRedirects}, nil
}

// noRedirects prevents redirects. With them, a user who can write a CustomResourceDefinition, or who serves its
// webhook, could make the server send objects to addresses that only the server can reach, also from https to http.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// address returns the URL of the webhook, or the reason why it can't be called.
func (w *webhook) address() (string, error) {
	c := w.config.ClientConfig
	if c.Service == nil {
		u, err := url.Parse(*c.URL)
		if err != nil {
			return "", err
		}
		return (&url.URL{
			Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawQuery: "timeout=" + webhookTimeout.String(),
		}).String(), nil
	}
	port := 443
	if c.Service.Port != nil {
		port = int(*c.Service.Port)
	}
	u := url.URL{
		Scheme: "https", Host: net.JoinHostPort(c.Service.Name+"."+c.Service.Namespace+".svc", strconv.Itoa(port)),
		RawQuery: "timeout=" + webhookTimeout.String(),
	}
	if c.Service.Path != nil {
		u.Path = *c.Service.Path
	}
	return "", &url.Error{Op: "Post", URL: u.String(), Err: errNoNetwork}
}

// convert calls the webhook once, unless the object is empty. The errors are those for a single object, as upstream
// fills its caches one by one.
func (w *webhook) convert(objs []*unstructured.Unstructured, apiVersion string) ([]*unstructured.Unstructured, error) {
	if len(objs) == 1 && empty(objs[0]) {
		return renaming{}.convert(objs, apiVersion)
	}
	from := objs[0].GroupVersionKind()
	uid := uuid.NewUUID()
	answer, err := w.review(uid, objs, apiVersion)
	if err != nil {
		return nil, fmt.Errorf("conversion webhook for %v failed: %w", from, err)
	}
	if len(answer) != len(objs) {
		return nil, fmt.Errorf("conversion webhook for %v returned %d objects, expected %d", from, len(answer), len(objs))
	}
	out := make([]*unstructured.Unstructured, len(objs))
	for i, raw := range answer {
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
func (w *webhook) review(
	uid types.UID, objs []*unstructured.Unstructured, apiVersion string,
) ([]runtime.RawExtension, error) {
	version := ""
	for _, v := range w.config.ConversionReviewVersions {
		if v == "v1" || v == "v1beta1" { // both have the same form
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
	data, err := json.Marshal(r)
	if err == nil {
		data, err = w.post(data)
	}
	if err != nil {
		return nil, err
	}
	answer := apiextensionsv1.ConversionReview{}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return answered(&answer, version, uid)
}

// answered checks that a response belongs to the request and reports success. For v1beta1 upstream checks less.
func answered(a *apiextensionsv1.ConversionReview, version string, uid types.UID) ([]runtime.RawExtension, error) {
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

// post sends a document and returns the body of the response.
func (w *webhook) post(data []byte) ([]byte, error) {
	address, err := w.address()
	if err != nil {
		return nil, err
	}
	client, err := w.client()
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", runtime.ContentTypeJSON)
	r.Header.Set("Accept", runtime.ContentTypeJSON+", */*")
	a, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Body.Close() }() // the body has been read
	if a.StatusCode < http.StatusOK || a.StatusCode > http.StatusPartialContent {
		return nil, rejection(a.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(a.Body, maxReview))
	if err != nil {
		return nil, fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	}
	if len(body) == 0 {
		kind := a.Header.Get("Content-Type")
		if kind == "" {
			kind = runtime.ContentTypeJSON
		}
		return nil, fmt.Errorf("0-length response with status code: %d and content type: %s", a.StatusCode, kind)
	}
	return body, nil
}

// rejection is the error for a response that is no review. It contains the status code, but nothing of the body: the
// client could otherwise read responses of addresses that only the server can reach. (Upstream includes 2 KB of it, or
// the message of a Status.)
func rejection(code int) error {
	return fmt.Errorf(
		"the webhook answered with the status code %d (%s) instead of a ConversionReview", code, http.StatusText(code),
	)
}
