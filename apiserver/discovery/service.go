package discovery

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Service serves the documents for one table of types.
type Service struct {
	// Others returns the group versions of other servers. It is set before the first request, or nil.
	Others  func() []Other
	types   *resources.Types
	address string
	// own are the documents with this server's group versions, and whole those with all servers' group versions.
	own, whole atomic.Pointer[documents]
	// mu is held while documents are made, so that they are made once.
	mu sync.Mutex
}

// New returns a service for the table. address is host:port of the secure port, which /api contains.
func New(t *resources.Types, address string) *Service {
	return &Service{types: t, address: address}
}

// ServeHTTP serves the request's path. For paths without a handler it sends a plain 404.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.Handler(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// Handler returns the handler of GET for the path: /api, /apis, /api/<version>, /apis/<group> or
// /apis/<group>/<version>, with or without a slash at the end. It is nil for other paths.
func (s *Service) Handler(path string) http.Handler {
	path = strings.TrimSuffix(path, "/")
	d := s.current(&s.own, nil)
	// Other servers serve the documents of their versions.
	if s.Others != nil && strings.HasPrefix(path, "/apis") && strings.Count(path, "/") <= len("//") {
		if others := s.Others(); len(others) > 0 {
			d = s.current(&s.whole, others)
		}
	}
	if p, ok := d.byPath[path]; ok {
		return p
	}
	return nil
}

// current returns the documents for the current state of the table and of other servers.
func (s *Service) current(kept *atomic.Pointer[documents], others []Other) *documents {
	fresh := func(d *documents, generation uint64) bool {
		return d != nil && d.generation == generation && equality.Semantic.DeepEqual(d.others, others)
	}
	if d := kept.Load(); fresh(d, s.types.Generation()) {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The generation is read before the table. If the table changes in between, these documents are stale, and the next
	// request makes new ones.
	generation := s.types.Generation()
	if d := kept.Load(); fresh(d, generation) {
		return d
	}
	d := newDocuments(s.types.All(), s.types.Groups(), s.address, others)
	d.generation, d.others = generation, others
	kept.Store(d)
	return d
}
