package drive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// Server is the server of a session.
type Server struct {
	URL    string
	Client *http.Client
	// Idle reports whether a session has found that the server collects no objects of custom kinds. Sessions then do
	// not wait for that.
	Idle bool
}

// Session is a set of objects on a server.
type Session struct {
	// Server has Idle set if the session has custom kinds and the server does not collect their objects.
	Server
	prefix string
	// kinds are the kinds of the session's objects.
	kinds   []model.Kind
	stop    context.CancelFunc
	watches sync.WaitGroup

	seen
}

// seen has the information from responses and watches.
type seen struct {
	mu      sync.Mutex // guards the fields below
	uids    map[model.UID]string
	symbols map[string]model.UID
	events  []raw
	// latest is the highest version in any response or event. The watches have shown all versions up to through, and
	// the versions in ahead.
	latest, through int64
	ahead           map[int64]bool
	// collected has the names of the sentinels that are gone.
	collected map[string]bool
	broken    error
	// more is closed at the next change.
	more chan struct{}
}

// Open creates a session's namespaces and its CustomResourceDefinitions on the server, and starts its watches. Sessions
// on one server must have different prefixes, which are a part of names. The session ends with ctx.
func Open(ctx context.Context, on Server, prefix string, kinds []model.Kind) (*Session, error) {
	ctx, s := session(ctx, on, prefix, kinds)
	for _, ns := range model.Namespaces {
		if err := s.create(ctx, s.namespace(ns)); err != nil {
			s.Close()
			return nil, fmt.Errorf("creating the namespace %s: %w", s.realNamespace(ns), err)
		}
	}
	if err := s.define(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, s.watchAll(ctx)
}

func (s *Session) namespace(ns string) Request {
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, s.realNamespace(ns))
	return Request{http.MethodPost, "/api/v1/namespaces", "application/json", body}
}

// Resume continues a session that was closed, on a server that has the same data. Events that happened in the meantime
// are lost.
func Resume(ctx context.Context, on Server, old *Session) (*Session, error) {
	ctx, s := session(ctx, on, old.prefix, old.kinds)
	s.uids, s.symbols = old.uids, old.symbols
	return s, s.watchAll(ctx)
}

func session(ctx context.Context, on Server, prefix string, kinds []model.Kind) (context.Context, *Session) {
	ctx, cancel := context.WithCancel(ctx)
	on.URL = strings.TrimRight(on.URL, "/")
	return ctx, &Session{Server: on, prefix: prefix, kinds: kinds, stop: cancel, seen: seen{
		uids: map[model.UID]string{}, symbols: map[string]model.UID{}, ahead: map[int64]bool{},
		collected: map[string]bool{}, more: make(chan struct{}),
	}}
}

// watchAll starts the watches. It closes the session if one fails.
func (s *Session) watchAll(ctx context.Context) error {
	for _, k := range append([]model.Kind{namespaces}, s.kinds...) {
		if err := s.watch(ctx, k); err != nil {
			s.Close()
			return fmt.Errorf("watching %s: %w", k.Plural, err)
		}
	}
	return nil
}

// Close ends the watches. It does not delete objects.
func (s *Session) Close() {
	s.stop()
	s.watches.Wait()
}

// Answer is a response.
type Answer struct {
	model.Response
	// Body is the body as it was received.
	Body []byte
}

// Send sends a resolved operation.
func (s *Session) Send(ctx context.Context, op model.Op) (Answer, error) {
	code, body, err := s.do(ctx, s.Request(op))
	if err != nil {
		return Answer{}, fmt.Errorf("sending %s: %w", op, err)
	}
	r, err := s.read(op, code, body)
	if err == nil && r.Object != nil {
		s.saw(r.Object.Version)
	}
	return Answer{r, body}, err
}

func (s *Session) do(ctx context.Context, r Request) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, s.URL+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return 0, nil, err
	}
	if len(r.Body) > 0 {
		req.Header.Set("Content-Type", r.ContentType)
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// List returns the session's objects of all kinds.
func (s *Session) List(ctx context.Context) (model.State, error) {
	all := model.State{}
	for _, k := range s.kinds {
		for _, ns := range model.Namespaces {
			items, _, err := s.list(ctx, s.collection(k, ns))
			if err != nil {
				return nil, fmt.Errorf("listing %s: %w", k.Plural, err)
			}
			for _, m := range items {
				if o, mine := s.object(k.Name, m); mine {
					all[o.Key] = o
				}
			}
		}
	}
	return all, nil
}
