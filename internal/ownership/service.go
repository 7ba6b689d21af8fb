package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	// Idle is how long the index is kept after a question.
	Idle = 2 * time.Minute
	// MostObjects is how many objects an answer may depend on: as many as the page can show.
	MostObjects = ui.MostObjects
	// Timeout is how long a question may take.
	Timeout = 30 * time.Second
	// mostQuestions is how many questions are answered at a time: each may need memory for MostObjects objects.
	mostQuestions = 2
)

// Config is what a Service is made of. All fields are required but those with a default.
type Config struct {
	Cache *cache.Cache
	Types *resources.Types
	// Root is the prefix of all keys.
	Root string
	// Revision returns the newest revision of the store.
	Revision func(context.Context) (int64, error)
	// Authorizer is that of the server, which exists when the first question comes.
	Authorizer func() authorization.Authorizer
	Log        *slog.Logger
	// Life, if set, is done when the server begins to end; streams end with it.
	Life context.Context
	// Removed, if set, is when the object with the uid was removed; zero if that is not known. Queue, if set, is how many
	// objects wait for the collector; ok is false if it does not run here.
	Removed func(uid string) time.Time
	Queue   func() (n int, ok bool)
	// Now defaults to time.Now, Idle and MostObjects to the constants of these names.
	Now         func() time.Time
	Idle        time.Duration
	MostObjects int
}

// Service answers questions. Its methods may be called from any goroutine.
type Service struct {
	config Config
	// questions has a token for each question that is being answered.
	questions chan struct{}

	// mu is held while the index follows the cache and while the objects of a question are found, but not while its
	// answer is computed.
	mu    sync.Mutex
	index *index
	table *table
	// admission has the configurations of webhooks and policies as the last question found them; nil before the first.
	admission *admission
	// expiry drops the index and what is kept with it; nil before the first question.
	expiry *time.Timer
	closed bool
}

// New returns a service, which holds nothing yet.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Idle == 0 {
		c.Idle = Idle
	}
	if c.MostObjects == 0 {
		c.MostObjects = MostObjects
	}
	return &Service{config: c, questions: make(chan struct{}, mostQuestions)}
}

// Close drops the index. Later questions are answered without one that lasts.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.expiry != nil {
		s.expiry.Stop()
	}
	s.forget()
}

// drop drops the index when it was not used for long.
func (s *Service) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
}

func (s *Service) forget() { s.index, s.table, s.admission = nil, nil, nil }

// Routes are the paths of the service.
func (s *Service) Routes() []render.Route {
	return []render.Route{
		{Path: "tree", Serve: s.serve("tree", func(c *explain.Cluster, keys []graph.Key, _ *question) any {
			return c.Tree(keys[0])
		})},
		{Path: "why", Serve: s.serve("why", func(c *explain.Cluster, keys []graph.Key, _ *question) any {
			return c.Why(keys[0])
		})},
		{Path: "preview", Methods: []string{http.MethodGet, http.MethodPost}, Serve: s.serve("preview", preview)},
		{Path: "lint", Serve: s.lint},
		{Path: "graph", LongRunning: true, Serve: s.graph()},
	}
}

// preview is nil if it was stopped.
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

// answerer computes an answer from an excerpt; nil if it was stopped.
type answerer func(c *explain.Cluster, keys []graph.Key, ask *question) any

func (s *Service) serve(path string, answer answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := s.answer(r, path, answer)
		if err != nil {
			render.Error(s.config.Log, w, r, err)
			return
		}
		w.Header().Set("Content-Type", codec.MediaJSON)
		render.Body(w, r, http.StatusOK, data)
	}
}

// answer answers a request in its turn.
func (s *Service) answer(r *http.Request, path string, answer answerer) (data []byte, err error) {
	ask, err := parse(r, path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), Timeout)
	defer cancel()
	r = r.WithContext(ctx)
	revision, err := s.config.Revision(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.config.Cache.Wait(ctx, revision); err != nil {
		return nil, err
	}
	ended := s.inTurn(ctx, func() {
		var excerpt *explain.Cluster
		var keys []graph.Key
		for range attempts { // history may expire before the objects are found
			if excerpt, keys, err = s.excerpt(r, ask); !errors.Is(err, cache.ErrExpired) {
				break
			}
		}
		if err != nil {
			return
		}
		excerpt.Stop = func() bool { return ctx.Err() != nil }
		value := answer(excerpt, keys, ask)
		if value == nil {
			err = ctx.Err()
			return
		}
		data, err = json.Marshal(value)
	})
	if ended != nil {
		return nil, ended
	}
	return data, err
}

// inTurn runs work when fewer than mostQuestions run. The error is that of ctx.
func (s *Service) inTurn(ctx context.Context, work func()) error {
	select {
	case s.questions <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.questions }()
	work()
	return nil
}

// excerpt finds the objects that the answer depends on.
func (s *Service) excerpt(r *http.Request, ask *question) (*explain.Cluster, []graph.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision, err := s.ready()
	if err != nil {
		return nil, nil, err
	}
	f := &finder{source: &source{
		table: s.table, index: s.index, cache: s.config.Cache, root: s.config.Root, namespace: ask.namespace,
		revision: revision, snapshots: map[*row]*cache.Snapshot{}, objects: map[string]*explain.Object{},
		most: s.config.MostObjects,
	}, by: s.config.Authorizer(), user: requestinfo.UserOf(r)}
	if s.closed {
		defer s.forget()
	}
	whole := explain.Cluster{Resources: f.permit(f.by, f.user), Now: s.config.Now(), Revision: revision}
	keys, err := f.keys(ask)
	if err != nil {
		return nil, nil, err
	}
	if ask.path != "tree" { // which has no requests
		whole.Hooks = f.hooks(s.admission)
	}
	found, ok := whole.Excerpt(f.source, keys, f.most)
	switch {
	case f.err != nil:
		return nil, nil, f.err
	case !ok || f.overflow:
		return nil, nil, status.Oversized("the answer depends on more than %d objects", f.most)
	}
	for i := range found.Objects {
		if found.Objects[i].Namespace != nil {
			found.Unavailable = f.unavailable()
			break
		}
	}
	return found, keys, nil
}

// ready brings the index and the table up to date, and returns the revision of the index.
func (s *Service) ready() (revision int64, err error) {
	if s.table == nil || s.table.generation != s.config.Types.Generation() {
		s.table = newTable(s.config.Types)
	}
	if s.admission == nil {
		s.admission = &admission{}
	}
	if s.index, revision, err = s.index.current(s.config.Cache); err != nil {
		return 0, err
	}
	switch {
	case s.closed:
	case s.expiry == nil:
		s.expiry = time.AfterFunc(s.config.Idle, s.drop)
	default:
		s.expiry.Reset(s.config.Idle)
	}
	return revision, nil
}
