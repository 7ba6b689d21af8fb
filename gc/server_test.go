package gc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// server is a small API server over a real store and a real cache. It stores only metadata.
type server struct {
	t     testing.TB
	store storage.Store
	cache *cache.Cache

	mu sync.Mutex // guards the fields below
	// before, if set, is called before each of the collector's requests, and may return the error of the request.
	before func(verb string, o Object) error
	// after, if set, is called after each write, before its response.
	after   func()
	calls   []call
	events  []corev1.Event
	table   []graph.Kind
	changed chan struct{}
	// between, if set, is called once by Kinds, after the table was read and before it is returned.
	between func()
}

// call is a request of the collector, and its time.
type call struct {
	verb, name string
	at         time.Time
}

type object = metav1.PartialObjectMetadata

var builtins = []graph.Kind{
	{APIVersion: "v1", Kind: "ConfigMap", Collection: "configmaps", Namespaced: true, Preferred: true},
	{APIVersion: "v1", Kind: "PersistentVolume", Collection: "persistentvolumes", Preferred: true},
	{APIVersion: "v1", Kind: "Event", Collection: "events", Namespaced: true, Preferred: true},
}

func newServer(t testing.TB, store storage.Store) *server {
	return &server{
		t: t, store: store, table: builtins, changed: make(chan struct{}),
		cache: cache.New(cache.Options{Decoder: storage.Decoder{Root: storage.DefaultRoot}}),
	}
}

// run runs a collector on the server, in a bubble with its own time, while f runs.
func run(t *testing.T, s *server, c Config, f func(*Collector)) {
	ctx, cancel := context.WithCancel(t.Context())
	collector, wait := start(ctx, t, s, c)
	synctest.Wait()
	f(collector)
	cancel()
	wait()
}

// runUntil runs a collector until it has nothing to do or ctx is done.
func runUntil(ctx context.Context, t *testing.T, s *server, c Config) {
	ctx, cancel := context.WithCancel(ctx)
	_, wait := start(ctx, t, s, c)
	synctest.Wait()
	cancel()
	wait()
}

// start starts a collector; it ends with ctx.
func start(ctx context.Context, t *testing.T, s *server, c Config) (collector *Collector, wait func()) {
	c.API, c.Timeline, c.Kinds = s, s.cache, s
	collector = New(c)
	var done sync.WaitGroup
	done.Go(func() {
		if err := s.store.Follow(ctx, s.cache.Apply); !errors.Is(err, context.Canceled) {
			t.Errorf("follow: %v", err)
		}
	})
	done.Go(func() {
		if err := collector.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("run: %v", err)
		}
	})
	return collector, done.Wait
}

// Kinds implements Kinds.
func (s *server) Kinds() ([]graph.Kind, <-chan struct{}) {
	s.mu.Lock()
	table, changed, between := s.table, s.changed, s.between
	s.between = nil
	s.mu.Unlock()
	if between != nil {
		between()
	}
	return table, changed
}

// meanwhile makes the collector's next call of Kinds call f.
func (s *server) meanwhile(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.between = f
}

func (s *server) serve(table []graph.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table = table
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *server) fault(f func(verb string, o Object) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// called returns when the verb was called on the object.
func (s *server) called(verb, name string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	var at []time.Time
	for _, c := range s.calls {
		if c.verb == verb && c.name == name {
			at = append(at, c.at)
		}
	}
	return at
}

// begin records a request and returns the error with which it must fail.
func (s *server) begin(ctx context.Context, verb string, o Object) error {
	s.mu.Lock()
	s.calls = append(s.calls, call{verb, o.Name, time.Now()})
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(verb, o); err != nil {
			if errors.Is(err, errHang) {
				<-ctx.Done()
				return apierrors.NewTimeoutError("request did not complete", 0)
			}
			return err
		}
	}
	return ctx.Err()
}

var errHang = errors.New("hang until the deadline")

func resource(collection string) schema.GroupResource {
	return schema.GroupResource{Resource: collection}
}

// get returns the stored object, nil if there is none.
func (s *server) get(key string) *object {
	r, err := s.store.Get(s.t.Context(), storage.DefaultRoot+"/"+key)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		s.t.Error(err)
		return nil
	}
	o := &object{}
	if err := json.Unmarshal(r.Value, o); err != nil {
		s.t.Error(err)
	}
	o.ResourceVersion = strconv.FormatInt(r.ModRevision, 10)
	return o
}

// write stores the changed object, or removes it if it is dying and nothing holds it (B-20).
func (s *server) write(ctx context.Context, key string, o *object, guards []storage.Guard) error {
	rev, _ := strconv.ParseInt(o.ResourceVersion, 10, 64)
	o.ResourceVersion = ""
	value, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if o.DeletionTimestamp != nil && len(o.Finalizers) == 0 {
		value = nil
	}
	_, err = s.store.Commit(
		ctx, storage.Txn{Key: storage.DefaultRoot + "/" + key, Expect: rev, Guards: guards, Value: value})
	s.mu.Lock()
	after := s.after
	s.mu.Unlock()
	if after != nil {
		after()
	}
	if errors.Is(err, storage.ErrConflict) {
		return apierrors.NewConflict(resource(key), o.Name, err)
	}
	return err
}

// put creates or replaces an object as a client does: key, then finalizers and owners.
func (s *server) put(key string, change ...func(*object)) *object {
	s.t.Helper()
	p := strings.Split(key, "/")
	o := s.get(key)
	if o == nil {
		o = &object{}
		o.APIVersion, o.Kind = s.nameOf(p[0])
		o.Name, o.UID = p[len(p)-1], types.UID("uid-"+p[len(p)-1])
		if len(p) == 3 {
			o.Namespace = p[1]
		}
	}
	for _, f := range change {
		f(o)
	}
	if err := s.write(s.t.Context(), key, o, nil); err != nil {
		s.t.Errorf("putting %s: %v", key, err)
	}
	return s.get(key)
}

func (s *server) nameOf(collection string) (apiVersion, kind string) {
	for _, k := range builtins {
		if k.Collection == collection {
			return k.APIVersion, k.Kind
		}
	}
	return "odd.io/v1", "Odd"
}

func ownedBy(blocking bool, owners ...*object) func(*object) {
	return func(o *object) {
		for _, x := range owners {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{
				APIVersion: x.APIVersion, Kind: x.Kind, Name: x.Name, UID: x.UID, BlockOwnerDeletion: &blocking,
			})
		}
	}
}

func held(o *object) { o.Finalizers = append(o.Finalizers, "x/y") }

// delete is a client's DELETE.
func (s *server) delete(key string, policy metav1.DeletionPropagation) {
	s.t.Helper()
	if o := s.get(key); o != nil {
		if err := s.remove(s.t.Context(), key, o, policy, nil); err != nil {
			s.t.Errorf("deleting %s: %v", key, err)
		}
	}
}

func (s *server) remove(
	ctx context.Context, key string, o *object, policy metav1.DeletionPropagation, guards []storage.Guard) error {
	o.Finalizers = slices.DeleteFunc(o.Finalizers, func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch policy {
	case metav1.DeletePropagationForeground:
		o.Finalizers = append(o.Finalizers, metav1.FinalizerDeleteDependents)
	case metav1.DeletePropagationOrphan:
		o.Finalizers = append(o.Finalizers, metav1.FinalizerOrphanDependents)
	}
	o.DeletionTimestamp = new(metav1.Now())
	return s.write(ctx, key, o, guards)
}

// find returns the object of a request, after its preconditions.
func (s *server) find(ctx context.Context, verb string, r Object, exact bool) (*object, error) {
	if err := s.begin(ctx, verb, r); err != nil {
		return nil, err
	}
	o := s.get(r.Key.String())
	switch {
	case o == nil:
		return nil, apierrors.NewNotFound(resource(r.Collection), r.Name)
	case string(o.UID) != r.UID || exact && o.ResourceVersion != strconv.FormatInt(r.Revision, 10):
		return nil, apierrors.NewConflict(resource(r.Collection), r.Name, errors.New("precondition"))
	}
	return o, nil
}

// Delete implements API.
func (s *server) Delete(ctx context.Context, d DeleteRequest) error {
	o, err := s.find(ctx, "delete", d.Object, true)
	if err != nil {
		return err
	}
	return s.remove(context.WithValue(ctx, collecting{}, true), d.Object.Key.String(), o, d.Policy, d.Guards)
}

// RemoveOwners implements API.
func (s *server) RemoveOwners(ctx context.Context, r graph.RemoveOwners) error {
	o, err := s.find(ctx, "remove-owners", r.Object, r.Exact)
	if err != nil {
		return err
	}
	o.OwnerReferences = slices.DeleteFunc(o.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return slices.Contains(r.Owners, string(ref.UID))
	})
	return s.write(ctx, r.Object.Key.String(), o, nil)
}

// Unblock implements API.
func (s *server) Unblock(ctx context.Context, u graph.Unblock) error {
	o, err := s.find(ctx, "unblock", u.Object, false)
	if err != nil {
		return err
	}
	for i := range o.OwnerReferences {
		if slices.Contains(u.Owners, string(o.OwnerReferences[i].UID)) {
			o.OwnerReferences[i].BlockOwnerDeletion = new(bool)
		}
	}
	return s.write(ctx, u.Object.Key.String(), o, nil)
}

// RemoveFinalizer implements API.
func (s *server) RemoveFinalizer(ctx context.Context, r graph.RemoveFinalizer) error {
	o, err := s.find(ctx, "remove-finalizer", r.Object, true)
	if err != nil {
		return err
	}
	o.Finalizers = slices.DeleteFunc(o.Finalizers, func(f string) bool { return f == r.Finalizer.String() })
	return s.write(ctx, r.Object.Key.String(), o, nil)
}

// CreateEvent implements API.
func (s *server) CreateEvent(ctx context.Context, e *corev1.Event) error {
	return s.event(ctx, "create-event", e)
}

// CountEvent implements API.
func (s *server) CountEvent(ctx context.Context, e *corev1.Event) error {
	return s.event(ctx, "count-event", e)
}

func (s *server) event(ctx context.Context, verb string, e *corev1.Event) error {
	if err := s.begin(ctx, verb, Object{Key: graph.Key{Name: e.InvolvedObject.Name}}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.events, func(x corev1.Event) bool { return x.Name == e.Name && x.Namespace == e.Namespace })
	switch {
	case verb == "create-event" && i >= 0:
		return apierrors.NewAlreadyExists(resource("events"), e.Name)
	case verb == "create-event":
		s.events = append(s.events, *e)
	case i < 0:
		return apierrors.NewNotFound(resource("events"), e.Name)
	default:
		s.events[i].Count++
		s.events[i].LastTimestamp = e.LastTimestamp
	}
	return nil
}

// names returns the keys of all objects, sorted, with a plus for each that is terminating.
func (s *server) names() string {
	page, err := s.store.List(s.t.Context(), storage.Range{Prefix: storage.DefaultRoot + "/"})
	if err != nil {
		s.t.Error(err)
	}
	var names []string
	for _, r := range page.Records {
		key := strings.TrimPrefix(r.Key, storage.DefaultRoot+"/")
		if o := s.get(key); o != nil && o.DeletionTimestamp != nil {
			key += "+"
		}
		names = append(names, key)
	}
	return strings.Join(names, " ")
}
