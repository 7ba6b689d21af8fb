package aggregator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	response, err := a.send(ctx, s, serverUser, http.MethodGet, &u, nil, nil)
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

// send sends a request. Of the header it sends the media types only. It does not follow redirects.
func (a *Aggregator) send(ctx context.Context, s *Service, as user.DefaultInfo, method string, to *url.URL,
	header http.Header, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, to.String(), body)
	if err != nil {
		return nil, err
	}
	transport.SetAuthProxyHeaders(r, as.Name, as.UID, as.Groups, as.Extra)
	for _, key := range []string{"Accept", "Content-Type"} {
		if v := header.Get(key); v != "" {
			r.Header.Set(key, v)
		}
	}
	client := http.Client{Transport: s.transport, CheckRedirect: stay}
	return client.Do(r)
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Client returns an HTTP client for requests of a user to the servers of APIServices. The path of a URL chooses the
// server; the host does not matter. Of a request's headers, only the media types are sent. Redirects are not followed.
// Without an APIService the code is 404; if the service can't be reached, it is that of Forward.
func (a *Aggregator) Client(by user.DefaultInfo) *http.Client {
	return &http.Client{Transport: requests{a, by}, CheckRedirect: stay}
}

type requests struct {
	*Aggregator
	by user.DefaultInfo
}

func (t requests) RoundTrip(r *http.Request) (*http.Response, error) {
	parts := strings.Split(r.URL.Path+"////", "/") // apis, the group, the version
	s := t.Of(parts[2], parts[3])
	if s == nil {
		return plain(http.StatusNotFound, "404 page not found"), nil
	}
	response, err := t.open(r.Context(), s, t.by, r.Method, *r.URL, r.Header, r.Body)
	if err != nil {
		return plain(http.StatusServiceUnavailable, err.Error()), nil
	}
	if !r.URL.Query().Has("watch") {
		response.Body = http.MaxBytesReader(nil, response.Body, maxBytes)
	}
	return response, nil
}

func plain(code int, text string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		Body: io.NopCloser(strings.NewReader(text))}
}

// answer is a whole response.
type answer struct {
	code      int
	mediaType string
	body      []byte
}

// open sends a request to an available service.
func (a *Aggregator) open(ctx context.Context, s *Service, as user.DefaultInfo, method string, to url.URL,
	header http.Header, body io.Reader) (response *http.Response, err error) {
	switch {
	case !s.available():
		return nil, apierrors.NewServiceUnavailable("service unavailable")
	case s.broken != nil:
		return nil, s.broken
	}
	to.Scheme = "https"
	if to.Host, err = a.address(ctx, s); err != nil {
		return nil, err
	}
	return a.send(ctx, s, as, method, &to, header, body)
}

// get reads a document.
func (a *Aggregator) get(ctx context.Context, s *Service, path, accept string) (out answer, err error) {
	header := http.Header{"Accept": {accept}}
	response, err := a.open(ctx, s, serverUser, http.MethodGet, url.URL{Path: path}, header, nil)
	if err != nil {
		return out, err
	}
	defer response.Body.Close()
	out = answer{code: response.StatusCode, mediaType: response.Header.Get("Content-Type")}
	out.body, err = io.ReadAll(io.LimitReader(response.Body, maxBytes))
	return out, err
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
