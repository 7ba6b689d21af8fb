package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	// timeout is how long a question may take.
	timeout = 30 * time.Second
	// mostQuestions is how many questions are answered at a time: each needs memory for all objects.
	mostQuestions = 2
)

// Service answers questions about one cluster, and serves the stream of the graph. NewService and Server.Service make
// one. Its methods may be called from any goroutine.
type Service struct {
	// Open returns the source of a request's user.
	Open func(r *http.Request) (Source, error)
	// Namespace is read by itself where the user may not list all namespaces, and a question names none.
	Namespace string
	Log       *slog.Logger
	// Life, if set, is done when the server begins to end; streams end with it.
	Life context.Context
	Now  func() time.Time
	// MostObjects is how many objects a stream has at most when it begins.
	MostObjects int

	// questions has a token for each question that is being answered, streams one for each open stream.
	questions, streams chan struct{}
}

// newService returns a service without sources.
func newService() *Service {
	return &Service{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, MostObjects: ui.MostObjects,
		questions: make(chan struct{}, mostQuestions), streams: make(chan struct{}, mostStreams),
	}
}

// Service returns the service of the server, for Routes.
func (s *Server) Service() *Service {
	service := newService()
	service.Open = func(r *http.Request) (Source, error) { return s.open(r.Context(), requestinfo.UserOf(r)) }
	return service
}

// Routes are the paths of the service.
func (s *Service) Routes() []render.Route {
	return []render.Route{
		{Path: "tree", Serve: s.serve(parse, func(c *explain.Cluster, keys []graph.Key, _ *question) any {
			return c.Tree(keys[0])
		})},
		{Path: "why", Serve: s.serve(parse, func(c *explain.Cluster, keys []graph.Key, _ *question) any {
			return c.Why(keys[0])
		})},
		{Path: "preview", Methods: []string{http.MethodGet, http.MethodPost}, Serve: s.serve(parsePreview, preview)},
		{Path: "lint", Serve: s.serve(parseLint, lint)},
		{Path: "graph", LongRunning: true, Serve: s.graph},
	}
}

// answerer computes an answer; nil if it was stopped.
type answerer func(c *explain.Cluster, keys []graph.Key, ask *question) any

func preview(c *explain.Cluster, keys []graph.Key, ask *question) any {
	deletions := make([]explain.Deletion, len(keys))
	for i, k := range keys {
		deletions[i] = explain.Deletion{Key: k, Options: ask.options}
	}
	if p := c.Preview(deletions); p != nil {
		p.Absent = ask.absent
		return p
	}
	return nil
}

func lint(c *explain.Cluster, _ []graph.Key, ask *question) any {
	return map[string]any{"items": append([]explain.Finding{}, c.Lint(ask.namespace)...)}
}

// serve returns the handler of a question.
func (s *Service) serve(parse func(*http.Request) (*question, error), answer answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ask, err := parse(r)
		var data []byte
		if err == nil {
			data, err = s.answer(r, ask, answer)
		}
		if err != nil {
			render.Error(s.Log, w, r, err)
			return
		}
		w.Header().Set("Content-Type", codec.MediaJSON)
		render.Body(w, r, http.StatusOK, data)
	}
}

// answer reads the cluster and answers a question.
func (s *Service) answer(r *http.Request, ask *question, answer answerer) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	ended := s.limit(ctx, func() {
		var got *explain.Cluster
		var keys []graph.Key
		if got, keys, err = s.read(r.WithContext(ctx), ask); err != nil {
			return
		}
		got.Stop = func() bool { return ctx.Err() != nil }
		value := answer(got, keys, ask)
		if value == nil {
			err = ctx.Err()
			return
		}
		data, err = json.Marshal(value)
	})
	if err = cmp.Or(ended, err); errors.Is(err, context.DeadlineExceeded) {
		err = status.Oversized("the answer takes more than %s", timeout)
	}
	return data, err
}

// limit calls work when fewer than mostQuestions others run. The error is that of ctx.
func (s *Service) limit(ctx context.Context, work func()) error {
	select {
	case s.questions <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.questions }()
	work()
	return nil
}

// read reads the cluster, and finds the objects of the question.
func (s *Service) read(r *http.Request, ask *question) (*explain.Cluster, []graph.Key, error) {
	source, d, err := s.open(r)
	if err != nil {
		return nil, nil, err
	}
	got, err := Read(r.Context(), source, d, Options{Namespace: cmp.Or(ask.namespace, s.Namespace), Now: s.Now})
	if err != nil {
		return nil, nil, err
	}
	keys, err := (&finder{d, got}).keys(ask)
	return got, keys, err
}

// open returns the source of a request's user, and what the cluster serves.
func (s *Service) open(r *http.Request) (Source, *Discovery, error) {
	source, err := s.Open(r)
	if err != nil {
		return nil, nil, err
	}
	d, err := source.Discover(r.Context())
	return source, d, err
}
