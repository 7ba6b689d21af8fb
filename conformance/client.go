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
	// requestTimeout bounds a request that isn't a watch; a server bounds its writes by 34 s (0-13).
	requestTimeout = 40 * time.Second
	// maxAnswer bounds the bytes of an answer that are read.
	maxAnswer = 16 << 20
	// lingering is how much longer than its context a request that makes something may take.
	lingering = 5 * time.Second
)

// Client sends requests to the server under test. HTTP carries the credentials, if there are any.
type Client struct {
	// URL is the server's, without a slash at its end.
	URL  string
	HTTP *http.Client
}

// Answer is what the server said.
type Answer struct {
	Code   int
	Header http.Header
	// Body is the decoded JSON; it is empty if it wasn't an object.
	Body map[string]any
	// Text is the body as it came.
	Text string
	// Curl is the request that it answers.
	Curl string
}

// Message is the message of a Status, or the body, unless that is a page for a browser or long.
func (a *Answer) Message() string {
	if m, ok := a.Body["message"].(string); ok {
		return m
	}
	text := strings.TrimSpace(a.Text)
	if strings.HasPrefix(text, "<") || strings.Contains(a.Header.Get("Content-Type"), "html") {
		return fmt.Sprintf("%s, with a page that is no answer of a Kubernetes API server", http.StatusText(a.Code))
	}
	if r := []rune(text); len(r) > maxMessage {
		return string(r[:maxMessage]) + "..."
	}
	return text
}

// maxMessage bounds the characters of a body that is told as a message.
const maxMessage = 300

// Warnings are the texts of the answer's Warning headers.
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

// do sends a request; a body that is a string is sent as it is, another one as JSON. It waits as
// the server asks it to when it is told that there are too many requests.
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
	ctx, cancel := lasting(ctx, method)
	defer cancel()
	res, err := c.open(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	a := &Answer{Code: res.StatusCode, Header: res.Header, Text: string(b), Curl: c.curl(method, path, contentType, body)}
	// This package's decoder makes int64 of whole numbers, as unstructured objects want it.
	if json.Unmarshal(b, &a.Body) != nil {
		a.Body = map[string]any{}
	}
	return a, nil
}

// lasting returns a context for a request. What makes an object isn't given up the moment that a run is
// interrupted: it could be carried out after everything has been cleaned up.
func lasting(ctx context.Context, method string) (context.Context, context.CancelFunc) {
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

// open sends a request and leaves the answer's body to be read.
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

// curl is the command that sends a request, without credentials.
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

// quote makes one word of a shell of a text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
