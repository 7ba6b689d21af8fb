package openapi

import (
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// ErrNotServed says that no type has the group version.
var ErrNotServed = errors.New("group version isn't served")

// Service serves the documents of a set of types. Its methods may be called by any goroutine.
type Service struct {
	// version is info.version of the documents: "v1.37.2".
	version string
	source  func() []Type
	now     func() time.Time

	// mu guards what follows.
	mu sync.Mutex
	// current is nil before the first request; stale says that source must be called again.
	current *snapshot
	stale   bool
}

// New returns a service for the types of source, which is called at the first request and then once after each
// Invalidate, never concurrently. version is that of the API in the documents: "v1.37.2".
func New(version string, source func() []Type) *Service {
	return &Service{version: version, source: source, now: time.Now}
}

// Invalidate says that the result of source has changed; the next request calls it. Invalidate waits for a call of
// source in progress, so source must not call it.
func (s *Service) Invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// Definitions returns the schemas of a group version and of all that they refer to, by name, as in v3. The extension
// x-kubernetes-group-version-kind marks kinds. Each call returns new schemas, which the caller may change. ErrNotServed
// if there is no such version.
func (s *Service) Definitions(gv schema.GroupVersion) (map[string]*spec.Schema, error) {
	n, err := s.latest()
	if err != nil {
		return nil, err
	}
	path := prefix(gv)[1:]
	i, ok := slices.BinarySearchFunc(n.parts, path, func(p part, path string) int { return strings.Compare(p.path, path) })
	if !ok {
		return nil, fmt.Errorf("%s: %w", gv, ErrNotServed)
	}
	d, err := buildV3(s.version, n.parts[i], n.kinds)
	if err != nil {
		return nil, err
	}
	return d.Components.Schemas, nil
}

// snapshot has the documents for one result of source. It is immutable once made.
type snapshot struct {
	kinds kinds
	parts []part
	// v3 by path of the part.
	v3 map[string]*document
	v2 *document
	// index is the response for /openapi/v3.
	index []byte
}

// latest returns the documents of the types that are served now.
func (s *Service) latest() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && !s.stale {
		return s.current, nil
	}
	s.stale = false
	next, err := s.snapshot(s.source(), s.current)
	if err != nil {
		s.stale = true
		return nil, err
	}
	s.current = next
	return next, nil
}

// snapshot reuses the documents of previous that have not changed.
func (s *Service) snapshot(types []Type, previous *snapshot) (*snapshot, error) {
	n := &snapshot{kinds: kindsOf(types), parts: parts(types), v3: map[string]*document{}}
	sums, err := s.sums(types)
	if err != nil {
		return nil, err
	}
	for _, p := range n.parts {
		sum := sums.of(p.path)
		if previous != nil && previous.v3[p.path] != nil && previous.v3[p.path].sum == sum {
			n.v3[p.path] = previous.v3[p.path]
			continue
		}
		n.v3[p.path] = &document{sum: sum, since: s.now(), toProtobuf: protobufV3, build: func() ([]byte, error) {
			d, err := buildV3(s.version, p, n.kinds)
			if err != nil {
				return nil, err
			}
			return d.MarshalJSON()
		}}
	}
	n.v2 = &document{sum: sums.ofAll(n.parts), since: s.now(), toProtobuf: protobufV2, build: func() ([]byte, error) {
		d, err := buildV2(s.version, n.parts, n.kinds)
		if err != nil {
			return nil, err
		}
		return d.MarshalJSON()
	}}
	if previous != nil && previous.v2.sum == n.v2.sum {
		n.v2 = previous.v2
	}
	n.index, err = n.makeIndex()
	return n, err
}

// makeIndex encodes kube-openapi's OpenAPIV3Discovery (pkg/handler3).
func (n *snapshot) makeIndex() ([]byte, error) {
	type entry struct {
		URL string `json:"serverRelativeURL"`
	}
	paths := map[string]entry{}
	for path, d := range n.v3 {
		paths[path] = entry{hashedURL(path, d.sum)}
	}
	index, err := json.Marshal(map[string]any{"paths": paths})
	if err != nil {
		return nil, fmt.Errorf("encoding the index: %w", err)
	}
	return index, nil
}

// sums are the hashes of the sources of documents.
type sums struct {
	// base is the hash of the sources of every document: this program and its built-in types, whose group versions are
	// listed with metav1's own kinds.
	base []byte
	// custom covers the custom resources of a part, by its path.
	custom map[string]hash.Hash
}

func (s *Service) sums(types []Type) (*sums, error) {
	base := sha512.New()
	fmt.Fprintln(base, s.version)
	if build, ok := debug.ReadBuildInfo(); ok {
		io.WriteString(base, build.String())
	}
	r := &sums{custom: map[string]hash.Hash{}}
	for i := range types {
		t := &types[i]
		if t.Custom == nil {
			t.write(base)
			continue
		}
		path := prefix(t.groupVersion())[1:]
		h := r.custom[path]
		if h == nil {
			h = sha512.New()
			r.custom[path] = h
		}
		t.write(h)
		if err := json.NewEncoder(h).Encode([]any{t.Custom.ListKind, t.Custom.Schema, t.Custom.SchemaV2}); err != nil {
			return nil, fmt.Errorf("encoding the schema of %s: %w", t.groupVersionKind(), err)
		}
	}
	r.base = base.Sum(nil)
	return r, nil
}

// write writes everything of a type but its schema.
func (t *Type) write(w io.Writer) {
	fmt.Fprintf(
		w, "%q %q %v %q %T %T %v\n", t.groupVersionKind(), t.Plural, t.Namespaced, t.Verbs, t.Object, t.List,
		t.DeletesReturnObject,
	)
	for _, sub := range t.Subresources {
		fmt.Fprintf(w, " %q %q %q %T\n", sub.Name, sub.Verbs, sub.Kind, sub.Object)
	}
}

func (r *sums) of(path string) string {
	h := sha512.New()
	fmt.Fprintf(h, "%s\n%x\n", path, r.base)
	if custom := r.custom[path]; custom != nil {
		h.Write(custom.Sum(nil))
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}

func (r *sums) ofAll(parts []part) string {
	h := sha512.New()
	for _, p := range parts {
		fmt.Fprintln(h, r.of(p.path))
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}
