package aggregator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/transport"
)

const (
	// patience is the timeout of a read of a document of discovery, and of a check.
	patience = 5 * time.Second
	// openAPITimeout is the timeout of a read of an OpenAPI document, which the server may have to create first (KA
	// pkg/controllers/openapi/aggregator/aggregator.go, openapiv3/aggregator/aggregator.go: specDownloadTimeout).
	openAPITimeout = time.Minute
	// attempts is the number of requests of a check.
	attempts = 5
	// maxBytes is the maximum size of a response that is read whole.
	maxBytes = 64 << 20
)

// serverUser is the user of the server's own requests (KA pkg/controllers/status/remote).
var serverUser = user.DefaultInfo{Name: "system:kube-aggregator", Groups: []string{user.SystemPrivilegedGroup}}

// Check returns the error of the service of a group version, or nil. It sends several requests for the discovery
// document at the same time. One must succeed. The others are not cancelled then (KA
// pkg/controllers/status/remote/remote_available_controller.go: sync).
func (a *Aggregator) Check(ctx context.Context, group, version string) (err error) {
	s := a.Of(group, version)
	switch {
	case s == nil:
		return nil // the APIService has changed since, so another check follows
	case s.broken != nil:
		return s.broken
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	results := make(chan error, attempts)
	var requests sync.WaitGroup
	for range attempts {
		requests.Go(func() { results <- a.attempt(ctx, s) })
	}
	go func() {
		defer cancel()
		requests.Wait()
	}()
	for range attempts {
		if err = <-results; err == nil {
			return nil
		}
	}
	return err
}

func (a *Aggregator) attempt(ctx context.Context, s *Service) error {
	address, err := a.address(ctx, s)
	if err != nil {
		return err
	}
	u := url.URL{Scheme: "https", Host: address, Path: s.root()}
	response, err := a.send(ctx, s, serverUser, http.MethodGet, &u, "", nil)
	if err == nil {
		_ = response.Body.Close() // only the code matters
		if c := response.StatusCode; c < http.StatusOK || c >= http.StatusMultipleChoices {
			err = fmt.Errorf("bad status from %v: %d", &u, c)
		}
	}
	if err != nil {
		s.transport.CloseIdleConnections()
		return fmt.Errorf("failing or missing response from %v: %w", &u, err)
	}
	return nil
}

// send sends a request. It does not follow redirects.
func (a *Aggregator) send(
	ctx context.Context, s *Service, as user.DefaultInfo, method string, to *url.URL, accept string, body []byte,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	transport.SetAuthProxyHeaders(r, as.Name, as.UID, as.Groups, as.Extra)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	switch {
	case method == http.MethodPatch:
		r.Header.Set("Content-Type", "application/merge-patch+json")
	case body != nil:
		r.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{Transport: s.transport, CheckRedirect: stay}
	return client.Do(r)
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Client returns an HTTP client for reads by a user from the servers of APIServices. The path of a URL chooses the
// server; the host does not matter. Of a request's headers, only Accept is sent. Redirects are not followed.
func (a *Aggregator) Client(by user.DefaultInfo) *http.Client {
	return &http.Client{Transport: reads{a, by}, CheckRedirect: stay}
}

type reads struct {
	*Aggregator
	by user.DefaultInfo
}

func (t reads) RoundTrip(r *http.Request) (*http.Response, error) {
	parts := strings.Split(r.URL.Path+"////", "/") // apis, the group, the version
	response, err := t.open(r.Context(), t.Of(parts[2], parts[3]), t.by, r.Method, *r.URL, r.Header.Get("Accept"), nil)
	if err == nil && !r.URL.Query().Has("watch") {
		response.Body = http.MaxBytesReader(nil, response.Body, maxBytes)
	}
	return response, err
}

// answer is a whole response.
type answer struct {
	code      int
	mediaType string
	body      []byte
}

// open sends a request to an available service.
func (a *Aggregator) open(
	ctx context.Context, s *Service, as user.DefaultInfo, method string, to url.URL, accept string, body []byte,
) (response *http.Response, err error) {
	switch {
	case s == nil || !s.available():
		return nil, apierrors.NewServiceUnavailable("service unavailable")
	case s.broken != nil:
		return nil, s.broken
	}
	to.Scheme = "https"
	if to.Host, err = a.address(ctx, s); err != nil {
		return nil, err
	}
	return a.send(ctx, s, as, method, &to, accept, body)
}

// get reads a document.
func (a *Aggregator) get(ctx context.Context, s *Service, path, accept string) (out answer, err error) {
	response, err := a.open(ctx, s, serverUser, http.MethodGet, url.URL{Path: path}, accept, nil)
	if err != nil {
		return out, err
	}
	return read(response)
}

func read(response *http.Response) (out answer, err error) {
	defer response.Body.Close()
	out = answer{code: response.StatusCode, mediaType: response.Header.Get("Content-Type")}
	out.body, err = io.ReadAll(io.LimitReader(response.Body, maxBytes))
	return out, err
}

// Do is Open, and reads the body of the response.
func (a *Aggregator) Do(
	ctx context.Context, by user.DefaultInfo, method string, gv schema.GroupVersion, at url.URL, as string, body []byte,
) ([]byte, error) {
	stream, err := a.Open(ctx, by, method, gv, at, as, body)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	return io.ReadAll(io.LimitReader(stream, maxBytes))
}

// Open sends a request below the path of a group version, and returns the body of the response. as is the kind of
// meta.k8s.io that the response should have, or empty. A PATCH is a merge patch. The error of an unsuccessful response
// is its Status, or that of client-go for a response without one (CG rest/request.go: newUnstructuredResponseError).
// Without an APIService the code is 404; if the service can't be reached, it is that of Forward.
func (a *Aggregator) Open(
	ctx context.Context, by user.DefaultInfo, method string, gv schema.GroupVersion, at url.URL, as string, body []byte,
) (io.ReadCloser, error) {
	accept := "application/json"
	if as != "" {
		accept = "application/json;g=meta.k8s.io;v=v1;as=" + as + "," + accept
	}
	parts := strings.Split(at.Path+"////", "/") // namespaces, the namespace, the resource, the name
	got := answer{code: http.StatusNotFound}
	if s := a.Of(gv.Group, gv.Version); s != nil {
		at.Path = s.root() + at.Path
		response, err := a.open(ctx, s, by, method, at, accept, body)
		if err == nil {
			if c := response.StatusCode; c >= http.StatusOK && c <= http.StatusPartialContent {
				return response.Body, nil
			}
			got, err = read(response)
		}
		if err != nil {
			got = answer{code: http.StatusServiceUnavailable, body: []byte(err.Error())}
		}
	}
	var st metav1.Status
	if json.Unmarshal(got.body, &st) == nil && st.Kind == "Status" && st.Status != metav1.StatusSuccess {
		return nil, apierrors.FromObject(&st)
	}
	return nil, apierrors.NewGenericServerResponse(
		got.code, method, schema.GroupResource{Group: gv.Group, Resource: parts[3]}, parts[4],
		strings.TrimSpace(string(got.body[:min(len(got.body), 2048)])), 0, true)
}

// kept is a cached result. A value is kept for a minute, which is upstream's interval, and an error for patience.
type kept[T any] struct {
	// mu is held during a read, so that there is one at a time.
	mu    sync.Mutex
	until time.Time
	value T
	err   error
}

func (k *kept[T]) get(a *Aggregator, timeout time.Duration, read func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.config.Now().Before(k.until) {
		return k.value, k.err
	}
	ctx, cancel := context.WithTimeout(a.life, timeout) // not a client's: others use the result, too
	defer cancel()
	k.value, k.err = read(ctx)
	k.until = a.config.Now().Add(time.Minute)
	if k.err != nil {
		k.until = a.config.Now().Add(patience)
	}
	return k.value, k.err
}
