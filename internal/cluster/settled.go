package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

const (
	// settledPath is where a kubecascade server says when it has settled.
	settledPath = render.RoutePrefix + "settled"
	// delay is how much longer than its timeout the server may take to answer.
	delay = 15 * time.Second
)

// UnsettledError says what is going on at a server that had not settled at the timeout.
type UnsettledError struct{ message string }

// Error is the server's message, with a line for each cause.
func (e *UnsettledError) Error() string { return e.message }

// WaitSettled asks a kubecascade server to answer when it has settled, at the revision or later, and returns the
// answer. Errors: UnsettledError; all others say why that is not known.
func (c *Client) WaitSettled(ctx context.Context, timeout time.Duration, revision int64) ([]byte, error) {
	query := url.Values{"timeout": {timeout.String()}}
	if revision > 0 {
		query.Set("resourceVersion", strconv.FormatInt(revision, 10))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+settledPath+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	client := *c.HTTP
	client.Timeout = timeout + delay
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", settledPath, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, c.unsettled(res, body, timeout)
	}
	return body, nil
}

// unsettled is the error of a response.
func (c *Client) unsettled(res *http.Response, body []byte, timeout time.Duration) error {
	if res.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%s does not serve %s: it is not kubecascade, or an older one", c.URL, settledPath)
	}
	var st metav1.Status
	if json.Unmarshal(body, &st) != nil || st.Message == "" {
		return fmt.Errorf("GET %s: %s", settledPath, res.Status)
	}
	if res.StatusCode != http.StatusGatewayTimeout || st.Details == nil || len(st.Details.Causes) == 0 {
		return asError(res.Request, res, body)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, after %s", strings.TrimPrefix(st.Message, "Timeout: "), timeout)
	for _, cause := range st.Details.Causes {
		b.WriteString("\n  ")
		if cause.Field != "" {
			b.WriteString(cause.Field + ": ")
		}
		b.WriteString(cause.Message)
	}
	return &UnsettledError{b.String()}
}
