package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// mostRetries bounds how often a call is repeated after responses that ask for it (CG rest/with_retry.go).
	mostRetries = 10
	// longestText bounds how much of an unexpected response an error contains (CG rest/request.go).
	longestText = 2048
)

// errConfig marks errors before a call: the configuration can't be used.
type errConfig struct{ error }

// Unwrap returns the cause.
func (e errConfig) Unwrap() error { return e.error }

// UnexpectedCode is the error for a response without success of a guarded webhook: its status code.
type UnexpectedCode int

// Error has the code and its name.
func (c UnexpectedCode) Error() string {
	return fmt.Sprintf("the webhook answered with the status code %d (%s)", int(c), http.StatusText(int(c)))
}

// IsConfig reports whether a call was not made because of the webhook's configuration.
func IsConfig(err error) bool {
	var c errConfig
	return errors.As(err, &c)
}

// Call posts a document to a webhook, and passes the body of its response to use, which must not keep it. The query has
// the time that is left, in seconds, rounded up (L-62). A response of 429 or 5xx with Retry-After is repeated after that
// time, within ctx (L-74).
func (c *Clients) Call(
	ctx context.Context, config *Config, document []byte, header http.Header, use func(body []byte) error,
) error {
	to, err := c.of(config)
	if err != nil {
		return errConfig{err}
	}
	ctx, cancel := context.WithTimeout(ctx, MaxTimeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	u := to.base
	u.RawQuery = "timeout=" + strconv.FormatInt(max(0, int64((time.Until(deadline)+time.Second-1)/time.Second)), 10) + "s"
	for retries := 0; ; retries++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(document))
		if err != nil {
			return errConfig{err}
		}
		for name, values := range header {
			r.Header[name] = values
		}
		r.Header.Set("Content-Type", runtime.ContentTypeJSON)
		r.Header.Set("Accept", runtime.ContentTypeJSON+", */*")
		wait, again, err := c.send(to, r, retries == mostRetries, use)
		if err != nil || !again {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return &url.Error{Op: "Post", URL: u.String(), Err: err}
		}
	}
}

// send sends one request. It returns how long to wait for the next one, if the response asks for that and this request
// is not the last, else it uses the response.
func (c *Clients) send(to *client, r *http.Request, last bool, use func([]byte) error) (
	wait time.Duration, again bool, err error) {
	response, err := to.http.Do(r)
	if err != nil {
		return 0, false, plain(r.Context(), err)
	}
	body, release, err := c.read(response)
	defer release()
	_ = response.Body.Close() // what is needed was read
	switch {
	case errors.Is(err, errTooLarge):
		return 0, false, err
	case err != nil:
		const unread = "unexpected error when reading response body. Please retry. Original error: %w"
		return 0, false, fmt.Errorf(unread, plain(r.Context(), err))
	}
	if wait, again = retryAfter(response); again && !last {
		return wait, true, nil
	}
	if err := to.check(response, body); err != nil {
		return 0, false, err
	}
	return 0, false, use(body)
}

// plain is an error of net/http without what it adds to the end of a context.
func plain(ctx context.Context, err error) error {
	var of *url.Error
	if ended := ctx.Err(); ended != nil && errors.As(err, &of) {
		return &url.Error{Op: of.Op, URL: of.URL, Err: ended}
	}
	return err
}

// retryAfter is how long a response asks to wait before the request is repeated.
func retryAfter(r *http.Response) (time.Duration, bool) {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}

// sleep waits, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// check returns the error of a response that has no success, or no body, in client-go's words (CG rest/request.go:
// transformResponse, newUnstructuredResponseError; Result.Into).
func (c *client) check(r *http.Response, body []byte) error {
	failed := r.StatusCode < http.StatusOK || r.StatusCode > http.StatusPartialContent
	media := cmp.Or(r.Header.Get("Content-Type"), runtime.ContentTypeJSON)
	if _, _, err := mime.ParseMediaType(media); err != nil && !c.guarded {
		return apierrors.NewInternalError(err)
	}
	switch {
	case failed && c.guarded:
		return UnexpectedCode(r.StatusCode)
	case failed:
		return unexpected(r, body)
	case len(body) == 0:
		return fmt.Errorf("0-length response with status code: %d and content type: %s", r.StatusCode, media)
	}
	return nil
}

// unexpected is the error of a response without success: its Status, if it has one, else what its code says.
func unexpected(r *http.Response, body []byte) error {
	var st metav1.Status
	if json.Unmarshal(body, &st) == nil && st.Kind == "Status" && st.APIVersion == "v1" &&
		st.Status != metav1.StatusSuccess {
		return apierrors.FromObject(&st)
	}
	text := "unknown"
	if isText(r.Header.Get("Content-Type")) {
		text = strings.TrimSpace(string(body[:min(len(body), longestText)]))
	}
	seconds, _ := strconv.Atoi(r.Header.Get("Retry-After"))
	return apierrors.NewGenericServerResponse(
		r.StatusCode, http.MethodPost, schema.GroupResource{}, "", text, seconds, true,
	)
}

// isText reports whether a media type is text, as far as client-go looks: a type that is not set is.
func isText(media string) bool {
	kind, _, err := mime.ParseMediaType(media)
	return media == "" || err == nil && strings.HasPrefix(kind, "text/")
}
