package discovery

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Service serves the documents for one table of types.
type Service struct {
	types   *resources.Types
	address string
	now     atomic.Pointer[documents]
	// mu is held while documents are made, so that they are made once.
	mu sync.Mutex
}

// New returns a service for the table. address is host:port of the secure port, which /api contains.
func New(t *resources.Types, address string) *Service {
	return &Service{types: t, address: address}
}

// ServeHTTP serves the request's path; for paths that Handler does not know it sends a plain 404.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.Handler(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// Handler returns the handler of GET for the path: /api, /apis, /api/<version>, /apis/<group> or
// /apis/<group>/<version>, with or without a trailing slash; nil if nothing is served there.
func (s *Service) Handler(path string) http.Handler {
	if p, ok := s.current().byPath[strings.TrimSuffix(path, "/")]; ok {
		return p
	}
	return nil
}

// current returns the documents for the present state of the table.
func (s *Service) current() *documents {
	if d := s.now.Load(); d != nil && d.generation == s.types.Generation() {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The generation is read before the table: after a change in between, these documents are stale, and the next
	// request makes new ones.
	generation := s.types.Generation()
	if d := s.now.Load(); d != nil && d.generation == generation {
		return d
	}
	d := newDocuments(s.types.All(), s.types.Groups(), s.address)
	d.generation = generation
	s.now.Store(d)
	return d
}
