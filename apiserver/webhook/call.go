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
	// maxRetries limits the retries after responses that request them (CG rest/with_retry.go).
	maxRetries = 10
	// longestText limits the bytes of an unexpected response in an error (CG rest/request.go).
	longestText = 2048
)

// errConfig is an error in the configuration. No call was made.
type errConfig struct{ error }

// Unwrap returns the cause.
func (e errConfig) Unwrap() error { return e.error }

// UnexpectedCode is the error for an unsuccessful response of a guarded webhook. It is the status code.
type UnexpectedCode int

// Error returns a message with the code and its name.
func (c UnexpectedCode) Error() string {
	return fmt.Sprintf("the webhook answered with the status code %d (%s)", int(c), http.StatusText(int(c)))
}

// IsConfig reports whether an error is about the webhook's configuration, and no call was made.
func IsConfig(err error) bool {
	var c errConfig
	return errors.As(err, &c)
}

// Call posts a document to a webhook, and passes the body of its response to use, which must not keep it. The query has
// the remaining time in seconds, rounded up (L-62). After a response of 429 or 5xx with Retry-After, the call is
// retried after that time, while ctx allows (L-74).
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
		wait, again, err := c.send(to, r, retries == maxRetries, use)
		if err != nil || !again {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return &url.Error{Op: "Post", URL: u.String(), Err: err}
		}
	}
}

// send sends one request. If the response requests a retry and this is not the last attempt, it returns the time to
// wait. Otherwise it passes the response to use.
func (c *Clients) send(to *client, r *http.Request, last bool, use func([]byte) error) (
	wait time.Duration, again bool, err error) {
	response, err := to.http.Do(r)
	if err != nil {
		return 0, false, plain(r.Context(), err)
	}
	body, release, err := c.read(response)
	defer release()
	_ = response.Body.Close() // it was read as far as needed
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

// plain returns an error without the text that net/http adds to a context's error.
func plain(ctx context.Context, err error) error {
	var of *url.Error
	if ended := ctx.Err(); ended != nil && errors.As(err, &of) {
		return &url.Error{Op: of.Op, URL: of.URL, Err: ended}
	}
	return err
}

// retryAfter returns the time after which a response requests a retry, and reports whether it does.
func retryAfter(r *http.Response) (time.Duration, bool) {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}

// sleep waits for d, or returns ctx's error.
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

// check returns an error with client-go's message for an unsuccessful or empty response (CG rest/request.go:
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

// unexpected returns the error for an unsuccessful response: its Status, if it has one, or one for its code.
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

// isText reports whether a media type is text by client-go's rule, which includes an empty one.
func isText(media string) bool {
	kind, _, err := mime.ParseMediaType(media)
	return media == "" || err == nil && strings.HasPrefix(kind, "text/")
}
