package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/storage/cache"
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

// Server is what a Source of a server's own cache is made of.
type Server struct {
	Cache *cache.Cache
	Types *resources.Types
	// Revision returns the newest revision of the store.
	Revision func(context.Context) (int64, error)
	// Authorizer is that of the server, which exists when the first request comes.
	Authorizer func() authorization.Authorizer
	// Removed, if set, is when the object with the uid was removed; zero if that is not known. Queue, if set, is how many
	// objects wait for the collector; ok is false if it does not run here.
	Removed func(uid string) time.Time
	Queue   func() (n int, ok bool)
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
		{Path: "tree", Serve: s.serve("tree")},
		{Path: "why", Serve: s.serve("why")},
		{Path: "preview", Methods: []string{http.MethodGet, http.MethodPost}, Serve: s.serve("preview")},
		{Path: "lint", Serve: s.serve("lint")},
		{Path: "graph", LongRunning: true, Serve: s.graph},
	}
}

// serve returns the handler of a kind of questions.
func (s *Service) serve(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ask, err := parse(r, path)
		var data []byte
		if err == nil {
			data, err = s.answer(r, ask)
		}
		if err != nil {
			render.Error(s.Log, w, r, err)
			return
		}
		w.Header().Set("Content-Type", codec.MediaJSON)
		render.Body(w, r, http.StatusOK, data)
	}
}

// answer answers a question.
func (s *Service) answer(r *http.Request, ask *Question) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	ended := s.limit(ctx, func() {
		var source Source
		var d *Discovery
		if source, d, err = s.open(r.WithContext(ctx)); err != nil {
			return
		}
		var value any
		value, err = Answer(ctx, source, d, ask, Options{Namespace: cmp.Or(ask.Namespace, s.Namespace), Now: s.Now})
		if err != nil {
			return
		}
		if found, ok := value.([]explain.Finding); ok {
			value = map[string]any{"items": append([]explain.Finding{}, found...)}
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

// open returns the source of a request's user, and what the cluster serves.
func (s *Service) open(r *http.Request) (Source, *Discovery, error) {
	source, err := s.Open(r)
	if err != nil {
		return nil, nil, err
	}
	d, err := source.Discover(r.Context())
	return source, d, err
}
