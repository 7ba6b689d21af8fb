package cluster

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	timeout       = 30 * time.Second // the maximum duration of a question
	otherTime     = 5 * time.Second  // the maximum duration of a question's lists of aggregated servers
	mostQuestions = 2                // the maximum number of concurrent questions: each needs memory for all objects
)

// Service answers questions about one cluster, and serves the stream of the graph. Its methods may be called from any
// goroutine.
type Service struct {
	open func(r *http.Request) (Source, error) // returns the source of a request's user
	// Namespace is the namespace that is read if the user may not list a resource in all namespaces, and the question
	// names no namespace.
	Namespace   string
	Log         *slog.Logger
	Life        context.Context // done when the shutdown begins; streams end then
	Now         func() time.Time
	MostObjects int // the maximum number of objects at the start of a stream

	questions, streams *semaphore.Weighted // questions limits concurrent questions, streams open streams
}

func newService(open func(*http.Request) (Source, error)) *Service {
	return &Service{
		open: open, Log: slog.New(slog.DiscardHandler), Life: context.Background(), Now: time.Now,
		MostObjects: ui.MostObjects,
		questions:   semaphore.NewWeighted(mostQuestions), streams: semaphore.NewWeighted(mostStreams),
	}
}

// Server has the parts of a server from which a Source of its own cache is made.
type Server struct {
	Cache      *cache.Cache
	Types      *resources.Types
	Revision   func(context.Context) (int64, error) // returns the newest revision of the store
	Authorizer func() authorization.Authorizer      // returns the authorizer, which exists before the first request
	// Removed, if set, returns the time at which the object with the uid was removed; zero if the time is not known.
	// Queue, if set, returns the number of objects that wait for the collector. ok is false if the collector does not
	// run in this process.
	Removed func(uid string) time.Time
	Queue   func() (n int, ok bool)
	Others  func() (all []metav1.APIResource, stale []schema.GroupVersion) // the resources of aggregated servers
	As      func(authorization.User) *http.Client                          // sends a user's requests to them
}

// Service returns the service of the server, for Routes.
func (s *Server) Service() *Service {
	return newService(func(r *http.Request) (Source, error) { return s.open(r.Context(), requestinfo.UserOf(r)) })
}

// Routes returns the paths of the service.
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
	return render.Answer(s.Log, func(r *http.Request) (any, error) {
		ask, err := parse(r, path)
		if err != nil {
			return nil, err
		}
		answer, err := s.answer(r, ask)
		if errors.Is(err, context.DeadlineExceeded) {
			err = status.Oversized("the answer takes more than %s", timeout)
		}
		return answer, err
	})
}

func (s *Service) answer(r *http.Request, ask *Question) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	if err := s.questions.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.questions.Release(1)
	source, err := s.open(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return Answer(ctx, source, ask, Options{
		Namespace: cmp.Or(ask.Namespace, s.Namespace), Now: s.Now, MostDeletions: MostDeletions,
	})
}
