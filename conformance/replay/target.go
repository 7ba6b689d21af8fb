package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// requestTimeout limits a request that is not a watch.
	requestTimeout = 30 * time.Second
	// maxAnswer is the maximum number of bytes of a body, or of an event, that are read.
	maxAnswer = 16 << 20
)

// Target is the server under test.
type Target struct {
	// URL is the server's URL, without a slash at its end.
	URL string
	// Admin has the credentials of a user with all permissions; Anonymous has none.
	Admin, Anonymous *http.Client
	// Tokens maps the names of other users in the scenarios to their bearer tokens.
	Tokens map[string]string
}

// message is a request that can be sent.
type message struct {
	method, path, user string
	header             http.Header
	body               []byte
}

func (n *names) message(s *step) (message, error) {
	m := message{method: s.Method, path: n.fill(s.Path), user: s.As, header: http.Header{}}
	if s.Do != request {
		m.method = http.MethodGet
	}
	m.header.Set("Accept", "application/json")
	m.header.Set("Accept-Encoding", "identity")
	m.header.Set("User-Agent", "replay") // the name of the manager in recorded managed fields
	switch {
	case s.Body != nil:
		var flat bytes.Buffer
		if err := json.Compact(&flat, s.Body); err != nil {
			return m, err
		}
		var err error
		if m.body, err = n.fillJSON(flat.Bytes()); err != nil {
			return m, err
		}
		m.header.Set("Content-Type", "application/json")
	case s.Raw != nil:
		m.body = []byte(n.fill(*s.Raw))
		m.header.Set("Content-Type", "application/json")
	}
	for name, v := range s.Headers {
		m.header.Set(name, n.fill(v))
	}
	return m, nil
}

// curl returns the command that sends a request. A user's token is the shell's variable TOKEN. The administrator's
// credentials are not shown.
func (t *Target) curl(m message) string {
	words := []string{"curl", quote(t.URL + m.path)}
	if m.method != http.MethodGet {
		words = append(words, "-X", m.method)
	}
	for _, name := range slices.Sorted(maps.Keys(m.header)) {
		if name != "Accept-Encoding" {
			words = append(words, "-H", quote(name+": "+m.header.Get(name)))
		}
	}
	if t.Tokens[m.user] != "" && m.header.Get("Authorization") == "" {
		words = append(words, "-H", `"Authorization: Bearer $TOKEN"`)
	}
	if len(m.body) > 0 {
		words = append(words, "-d", quote(string(m.body)))
	}
	return strings.Join(words, " ")
}

// quote quotes a string as one word of a shell command.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// open sends a request and does not read the body. It does not follow redirects.
func (t *Target) open(ctx context.Context, m message) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, m.method, t.URL+m.path, bytes.NewReader(m.body))
	if err != nil {
		return nil, err
	}
	req.Header = m.header.Clone()
	req.Close = true // as in the recordings: the result of a read after a write depends on the time of a new connection
	client := *t.Admin
	if m.user != "" && m.user != admin || m.header.Get("Authorization") != "" {
		client = *t.Anonymous
		if token := t.Tokens[m.user]; token != "" && m.header.Get("Authorization") == "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client.Do(req)
}

// send sends a request and reads the whole response.
func (t *Target) send(ctx context.Context, m message) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := t.open(ctx, m)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return response{}, fmt.Errorf("reading the response: %w", err)
	}
	r := head(res)
	r.body = body
	return r, nil
}

func head(res *http.Response) response {
	return response{
		status:      res.StatusCode,
		contentType: strings.Join(res.Header.Values("Content-Type"), ", "),
		warnings:    res.Header.Values("Warning"),
	}
}

// watch sends a request and reads count events. It reads fewer if the response ends, or after the time idle without an
// event.
func (t *Target) watch(ctx context.Context, m message, count int, idle time.Duration) (response, error) {
	quiet, cancel := context.WithCancel(ctx)
	defer cancel()
	alarm := time.AfterFunc(idle, cancel)
	defer alarm.Stop()
	res, err := t.open(quiet, m)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	r := head(res)
	if res.StatusCode != http.StatusOK {
		r.body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		return r, err
	}
	r.events = []any{}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxAnswer)
	for len(r.events) < count && lines.Scan() {
		alarm.Reset(idle)
		e, err := decode(lines.Bytes())
		if err != nil {
			return r, fmt.Errorf("decoding an event: %w", err)
		}
		r.events = append(r.events, e)
	}
	// A broken connection counts as the end of the watch: the events so far are compared.
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return r, lines.Err()
	}
	return r, ctx.Err()
}
