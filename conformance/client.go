package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/json"
)

const (
	// requestTimeout is the timeout of a request that is not a watch; a server limits its writes to 34 s (0-13).
	requestTimeout = 40 * time.Second
	// maxAnswer is the maximum number of bytes that are read of a response.
	maxAnswer = 16 << 20
	// lingering is the time for which a request that creates an object may go on after its context has ended.
	lingering = 5 * time.Second
)

// Client sends requests to the server under test. HTTP has the credentials, if there are any.
type Client struct {
	// URL is the server's URL, without a trailing slash.
	URL  string
	HTTP *http.Client
}

// Answer is the server's response.
type Answer struct {
	Code   int
	Header http.Header
	// Body is the decoded JSON; it is empty if the response is not an object.
	Body map[string]any
	// Text is the body as it was received.
	Text string
	// Curl is the curl command that sends the request.
	Curl string
}

// Message returns the message of a Status, or else the body. It replaces an HTML page and truncates a long body.
func (a *Answer) Message() string {
	if m, ok := a.Body["message"].(string); ok {
		return m
	}
	text := strings.TrimSpace(a.Text)
	if strings.HasPrefix(text, "<") || strings.Contains(a.Header.Get("Content-Type"), "html") {
		return fmt.Sprintf("%s, with a page that is no response of a Kubernetes API server", http.StatusText(a.Code))
	}
	if r := []rune(text); len(r) > maxMessage {
		return string(r[:maxMessage]) + "..."
	}
	return text
}

// maxMessage is the maximum number of characters of a body that Message returns.
const maxMessage = 300

// Warnings returns the messages of the Warning headers.
func (a *Answer) Warnings() []string {
	var texts []string
	for _, w := range a.Header.Values("Warning") {
		if _, quoted, ok := strings.Cut(w, " - "); ok {
			if text, err := strconv.Unquote(quoted); err == nil {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// do sends a request. It sends a body that is a string unchanged, and encodes any other body as JSON. After a 429 it
// waits for the time in Retry-After, and sends the request again.
func (c *Client) do(ctx context.Context, method, path, contentType string, body any) (*Answer, error) {
	text, err := encode(body)
	if err != nil {
		return nil, err
	}
	for {
		a, err := c.once(ctx, method, path, contentType, text)
		if err != nil || a.Code != http.StatusTooManyRequests {
			return a, err
		}
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil || seconds > 60 {
			seconds = 1
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-ctx.Done():
			return a, nil
		}
	}
}

func (c *Client) once(ctx context.Context, method, path, contentType, body string) (*Answer, error) {
	ctx, cancel := requestContext(ctx, method)
	defer cancel()
	res, err := c.open(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the response to %s %s: %w", method, path, err)
	}
	a := &Answer{Code: res.StatusCode, Header: res.Header, Text: string(b), Curl: c.curl(method, path, contentType, body)}
	// This package's decoder decodes integers as int64, as unstructured objects require.
	if json.Unmarshal(b, &a.Body) != nil {
		a.Body = map[string]any{}
	}
	return a, nil
}

// requestContext returns a context for a request. If a run is interrupted, a request that creates an object is canceled
// only after a while. If it were canceled at once, the server could still execute it after the cleanup.
func requestContext(ctx context.Context, method string) (context.Context, context.CancelFunc) {
	if method != http.MethodPost || ctx.Err() != nil {
		return context.WithTimeout(ctx, requestTimeout)
	}
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(lingering, cancel)
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// open sends a request and does not read the body of the response.
func (c *Client) open(ctx context.Context, method, path, contentType, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewBufferString(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "kubecascade-conformance")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.HTTP.Do(req)
}

func encode(body any) (string, error) {
	switch b := body.(type) {
	case nil:
		return "", nil
	case string:
		return b, nil
	}
	b, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("encoding a body: %w", err)
	}
	return string(b), nil
}

// curl returns the command that sends a request, without credentials.
func (c *Client) curl(method, path, contentType, body string) string {
	s := "curl -X " + method + " " + quote(c.URL+path)
	if method == http.MethodGet {
		s = "curl " + quote(c.URL+path)
	}
	if body != "" {
		s += " -H " + quote("Content-Type: "+contentType) + " -d " + quote(body)
	}
	return s
}

// quote quotes a string as one word of a shell command.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
