package openapi

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Service serves the documents of a set of types. Its methods may be called by any goroutine.
type Service struct {
	// version is info.version in the documents: "v1.37.2".
	version string
	source  func() []Type
	now     func() time.Time
	// Others has the documents of other servers. Its functions are set before the first request, or nil.
	Others Others

	// mu guards the fields below.
	mu sync.Mutex
	// current is nil before the first request. stale is true if source must be called again.
	current *snapshot
	stale   bool
	// merged is the document of v2 with those of other servers, as last requested.
	merged *document
}

// Others returns the current documents of other servers.
type Others struct {
	// V3 returns the URLs of documents, by their paths in the index. Other handlers serve them.
	V3 func() map[string]string
	// V2 returns the documents and a hash of each.
	V2 func() (sums []string, documents []*spec.Swagger)
}

// New returns a service for the types that source returns. It calls source at the first request, and once after each
// Invalidate, but never concurrently. version is the version of the API in the documents: "v1.37.2".
func New(version string, source func() []Type) *Service {
	return &Service{version: version, source: source, now: time.Now}
}

// Invalidate records that source will return other types. The next request calls it. Invalidate waits for a call in
// progress, so source must not call Invalidate.
func (s *Service) Invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// snapshot has the documents for one result of source. It is immutable.
type snapshot struct {
	builtin *builtin
	// v3 has the documents of v3 by path.
	v3 map[string]*document
	v2 *document
	// all are the parts of v2.
	all []part
	// index is the response for /openapi/v3.
	index []byte
}

// builtin has the data that all documents share while it does not change.
type builtin struct {
	// version is info.version of the documents.
	version string
	// sum is the hash of this program and its built-in types, whose group versions are in every document (commonTypes).
	sum   string
	kinds kinds
}

// latest returns the documents of the types that are served now.
func (s *Service) latest() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && !s.stale {
		return s.current, nil
	}
	next, err := s.snapshot(s.source(), s.current)
	if err != nil {
		return nil, err
	}
	s.current, s.stale = next, false
	return next, nil
}

// snapshot returns the documents of types. It reuses the documents of previous that have not changed. A document refers
// only to builtin and to the types of its own part, so a reused document does not keep the old snapshot in memory.
func (s *Service) snapshot(types []Type, previous *snapshot) (*snapshot, error) {
	base := builtinOf(s.version, types)
	if previous == nil {
		previous = &snapshot{}
	} else if previous.builtin.sum == base.sum {
		base = previous.builtin
	}
	n := &snapshot{builtin: base, v3: map[string]*document{}}
	all, whole := parts(types), sha512.New()
	for _, p := range all {
		sum := p.sum(base)
		fmt.Fprintln(whole, sum)
		if n.v3[p.path] = previous.v3[p.path]; n.v3[p.path] == nil || n.v3[p.path].sum != sum {
			n.v3[p.path] = &document{sum: sum, since: s.now(), build: func(protobuf bool) ([]byte, error) {
				return encodeV3(base, p, protobuf)
			}}
		}
	}
	n.v2 = previous.v2
	if sum := fmt.Sprintf("%X", whole.Sum(nil)); n.v2 == nil || n.v2.sum != sum {
		n.v2 = &document{sum: sum, since: s.now(), build: func(protobuf bool) ([]byte, error) {
			return encodeV2(base, all, nil, protobuf)
		}}
	}
	n.all = all
	var err error
	n.index, err = n.makeIndex(nil)
	return n, err
}

// withV2 returns the document of v2, with those of other servers.
func (s *Service) withV2(n *snapshot) *document {
	if s.Others.V2 == nil {
		return n.v2
	}
	sums, others := s.Others.V2()
	if len(others) == 0 {
		return n.v2
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := fmt.Sprintf("%X", sha512.Sum512(fmt.Appendln(nil, n.v2.sum, sums)))
	if s.merged == nil || s.merged.sum != sum {
		s.merged = &document{sum: sum, since: s.now(), build: func(protobuf bool) ([]byte, error) {
			return encodeV2(n.builtin, n.all, others, protobuf)
		}}
	}
	return s.merged
}

// makeIndex encodes kube-openapi's OpenAPIV3Discovery (pkg/handler3). others are the URLs of other servers' documents.
func (n *snapshot) makeIndex(others map[string]string) ([]byte, error) {
	type entry struct {
		URL string `json:"serverRelativeURL"`
	}
	paths := map[string]entry{}
	for path, d := range n.v3 {
		paths[path] = entry{hashedURL(path, d.sum)}
	}
	for path, u := range others {
		paths[path] = entry{u}
	}
	index, err := json.Marshal(map[string]any{"paths": paths})
	if err != nil {
		return nil, fmt.Errorf("encoding the index: %w", err)
	}
	return index, nil
}

func builtinOf(version string, types []Type) *builtin {
	h := sha512.New()
	fmt.Fprintln(h, version)
	if build, ok := debug.ReadBuildInfo(); ok {
		io.WriteString(h, build.String())
	}
	var own []Type
	for i := range types {
		if types[i].Custom == nil {
			types[i].write(h)
			own = append(own, types[i])
		}
	}
	return &builtin{version: version, sum: fmt.Sprintf("%X", h.Sum(nil)), kinds: kindsOf(own)}
}

// sum returns the hash of all inputs of the part's document.
func (p *part) sum(base *builtin) string {
	h := sha512.New()
	fmt.Fprintf(h, "%s\n%s\n", p.path, base.sum)
	for i := range p.types {
		if t := &p.types[i]; t.Custom != nil {
			t.write(h)
			fmt.Fprintf(h, "%q %q\n", t.Custom.ListKind, t.Custom.Sum)
		}
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}

// write writes everything of a type except its schema.
func (t *Type) write(w io.Writer) {
	fmt.Fprintf(
		w, "%q %q %v %q %T %T %v\n", t.groupVersionKind(), t.Plural, t.Namespaced, t.Verbs, t.Object, t.List,
		t.DeletesReturnObject,
	)
	for _, sub := range t.Subresources {
		fmt.Fprintf(w, " %q %q %q %T\n", sub.Name, sub.Verbs, sub.Kind, sub.Object)
	}
}
