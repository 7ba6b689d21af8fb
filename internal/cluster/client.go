package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Client sends requests to an API server. It is the Source of any cluster: lists of metadata.
type Client struct {
	// URL is the server's, without a slash at the end. HTTP adds the credentials.
	URL  string
	HTTP *http.Client
}

// maxAnswer is the maximum size of a response, in bytes: a page of 500 objects with metadata of 1 MiB each is larger,
// but none is known to exist.
const maxAnswer = 256 << 20

// get reads a path. It returns the media type of the response and its body.
func (c *Client) get(
	ctx context.Context, path string, query url.Values, accept string,
) (media string, _ []byte, _ error) {
	target := c.URL + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return "", nil, err
	}
	req.Header.Set("Accept", accept)
	return c.Do(req)
}

// Do sends a request. It returns the media type of the response and its body. The errors of responses are
// *apierrors.StatusError, without a reason if the response is no Status.
func (c *Client) Do(req *http.Request) (media string, _ []byte, _ error) {
	res, err := c.HTTP.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return "", nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	if len(body) > maxAnswer {
		return "", nil, fmt.Errorf("%s %s: the response is larger than %d MiB", req.Method, req.URL.Path, maxAnswer>>20)
	}
	if res.StatusCode != http.StatusOK {
		return "", nil, asError(req, res, body)
	}
	return res.Header.Get("Content-Type"), body, nil
}

// asError returns the Status of a response, or one with its code if it has none, as an *apierrors.StatusError.
func asError(req *http.Request, res *http.Response, body []byte) error {
	var s metav1.Status
	if json.Unmarshal(body, &s) != nil || s.Message == "" {
		s = metav1.Status{Message: fmt.Sprintf("%s %s: %s", req.Method, req.URL.Path, res.Status)}
	}
	s.Status, s.Code = metav1.StatusFailure, int32(res.StatusCode)
	return &apierrors.StatusError{ErrStatus: s}
}

// getJSON reads a path into a value.
func (c *Client) getJSON(ctx context.Context, path string, query url.Values, into any) error {
	_, body, err := c.get(ctx, path, query, "application/json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// is reports whether a Content-Type has a media type and a parameter.
func is(contentType, media, parameter string) bool {
	first, rest, _ := strings.Cut(contentType, ";")
	return strings.TrimSpace(first) == media && strings.Contains(rest, parameter)
}
