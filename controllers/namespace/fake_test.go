package namespace

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/finalizers"
)

var (
	podType       = Resource{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, true, false}
	configMapType = Resource{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, true, false}
	serviceType   = Resource{schema.GroupVersionResource{Version: "v1", Resource: "services"}, false, false}
	widgetType    = Resource{schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}, true, false}
)

// server is an API server of namespaces and a few types, in memory. What deletes and updates mean
// is decided by package finalizers, as in the real one; resourceVersions conflict, events follow.
type server struct {
	mu         sync.Mutex // guards everything below
	rv         int
	namespaces map[string]*corev1.Namespace
	objects    map[objectKey]*object
	followers  map[*follower]struct{}
	resources  []Resource
	// fail, if set, may reject a request: "deletecollection configmaps in a".
	fail func(request string) error
	// requests are what was asked for, in order.
	requests []string
	// busy and most are how many deletecollections are under way, and were at once.
	busy, most int
	pause      time.Duration
}

type objectKey struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

type object struct {
	finalizers.Object
	kind finalizers.Kind
	// phase and grace are a pod's.
	phase corev1.PodPhase
	grace *int64
}

type follower struct {
	events []Event
	wake   chan struct{}
	err    error
}

func newServer() *server {
	return &server{
		namespaces: map[string]*corev1.Namespace{},
		objects:    map[objectKey]*object{},
		followers:  map[*follower]struct{}{},
		resources:  []Resource{widgetType, serviceType, podType, configMapType},
	}
}

// request records a request and returns the error that rejects it, if any.
func (s *server) request(format string, args ...any) error {
	r := fmt.Sprintf(format, args...)
	s.requests = append(s.requests, r)
	return s.reject(r)
}

func (s *server) reject(request string) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(request)
}

func (s *server) emit(e Event) {
	for f := range s.followers {
		f.events = append(f.events, e)
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

func (s *server) Follow(ctx context.Context, sink func(Event)) error {
	s.mu.Lock()
	if err := s.request("follow"); err != nil {
		s.mu.Unlock()
		return err
	}
	f := &follower{wake: make(chan struct{}, 1)}
	for _, ns := range s.namespaces {
		f.events = append(f.events, Event{Type: Exists, Namespace: ns.Name, Revision: revision(ns),
			Deleting: ns.DeletionTimestamp != nil})
	}
	s.followers[f] = struct{}{}
	s.mu.Unlock()
	for {
		s.mu.Lock()
		events, err := f.events, f.err
		f.events = nil
		s.mu.Unlock()
		for _, e := range events {
			sink(e)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.wake:
		}
	}
}

// breakStreams ends every Follow.
func (s *server) breakStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.followers {
		f.err = fmt.Errorf("stream broken")
		delete(s.followers, f)
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

func (s *server) Get(_ context.Context, name string) (*corev1.Namespace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("get %s", name); err != nil {
		return nil, err
	}
	return s.get(name)
}

func (s *server) get(name string) (*corev1.Namespace, error) {
	ns, ok := s.namespaces[name]
	if !ok {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	return ns.DeepCopy(), nil
}

func (s *server) Create(_ context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("create %s", ns.Name); err != nil {
		return nil, err
	}
	if _, ok := s.namespaces[ns.Name]; ok {
		return nil, apierrors.NewAlreadyExists(corev1.Resource("namespaces"), ns.Name)
	}
	ns = ns.DeepCopy()
	ns.UID = types.UID(fmt.Sprint("uid-", s.rv+1))
	ns.Status.Phase = corev1.NamespaceActive
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) { // E-02
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	s.put(ns)
	return ns.DeepCopy(), nil
}

// put stores a namespace under the next revision.
func (s *server) put(ns *corev1.Namespace) {
	s.rv++
	ns.ResourceVersion = strconv.Itoa(s.rv)
	s.namespaces[ns.Name] = ns
	s.emit(Event{Type: Exists, Namespace: ns.Name, Revision: int64(s.rv), Deleting: ns.DeletionTimestamp != nil})
}

// deleteNamespace is what a client does.
func (s *server) deleteNamespace(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns, err := s.get(name)
	if err != nil {
		return
	}
	v := finalizers.Delete(state(ns), finalizers.Kind{Namespace: true}, finalizers.Options{}, time.Now())
	switch v.Step {
	case finalizers.Store:
		ns.Finalizers, ns.DeletionGracePeriodSeconds = v.Finalizers, v.GracePeriodSeconds
		ns.DeletionTimestamp = &metav1.Time{Time: v.Deletion}
		ns.Status.Phase = corev1.NamespaceTerminating
		s.put(ns)
	case finalizers.Remove:
		s.removeNamespace(name)
	}
}

func (s *server) removeNamespace(name string) {
	s.rv++
	delete(s.namespaces, name)
	s.emit(Event{Type: Gone, Namespace: name, Revision: int64(s.rv)})
}

func (s *server) UpdateStatus(_ context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	return s.update("status", ns, func(to, from *corev1.Namespace) { to.Status = from.Status })
}

func (s *server) Finalize(_ context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	return s.update("finalize", ns, func(to, from *corev1.Namespace) { to.Spec = from.Spec })
}

func (s *server) update(
	verb string, ns *corev1.Namespace, set func(to, from *corev1.Namespace)) (*corev1.Namespace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("%s %s", verb, ns.Name); err != nil {
		return nil, err
	}
	next, err := s.get(ns.Name)
	if err != nil {
		return nil, err
	}
	if ns.ResourceVersion != next.ResourceVersion {
		return nil, apierrors.NewConflict(corev1.Resource("namespaces"), ns.Name, fmt.Errorf("stale"))
	}
	before := state(next)
	set(next, ns.DeepCopy())
	next.Finalizers = ns.Finalizers
	if finalizers.Update(before, state(next)) == finalizers.Remove {
		s.removeNamespace(ns.Name)
	} else {
		s.put(next)
	}
	return next.DeepCopy(), nil
}

// state is what finalizers needs of a namespace.
func state(ns *corev1.Namespace) finalizers.Object {
	o := finalizers.Object{
		UID: string(ns.UID), Finalizers: ns.Finalizers, GracePeriodSeconds: ns.DeletionGracePeriodSeconds,
	}
	for _, f := range ns.Spec.Finalizers {
		o.SpecFinalizers = append(o.SpecFinalizers, string(f))
	}
	if ns.DeletionTimestamp != nil {
		o.Deletion = ns.DeletionTimestamp.Time
	}
	return o
}

func (s *server) Resources() ([]Resource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resources, s.reject("resources")
}

func (s *server) deleteCollection(r Resource, namespace string) error {
	s.mu.Lock()
	s.busy++
	s.most = max(s.most, s.busy)
	pause := s.pause
	s.mu.Unlock()
	time.Sleep(pause)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if err := s.request("deletecollection %s in %s", r.Resource, namespace); err != nil {
		return err
	}
	if !r.Collection {
		return apierrors.NewMethodNotSupported(r.GroupResource(), "deletecollection")
	}
	for _, key := range s.keys(r, namespace) {
		s.delete(key, finalizers.Options{PropagationPolicy: "Background"})
	}
	return nil
}

func (s *server) Delete(_ context.Context, r Resource, namespace, name string) error {
	if name == "" {
		return s.deleteCollection(r, namespace)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("delete %s/%s in %s", r.Resource, name, namespace); err != nil {
		return err
	}
	key := objectKey{r.GroupVersionResource, namespace, name}
	if s.objects[key] == nil {
		return apierrors.NewNotFound(r.GroupResource(), name)
	}
	s.delete(key, finalizers.Options{PropagationPolicy: "Background"})
	return nil
}

// delete carries out what package finalizers decides.
func (s *server) delete(key objectKey, o finalizers.Options) {
	obj := s.objects[key]
	v := finalizers.Delete(obj.Object, obj.kind, o, time.Now())
	switch v.Step {
	case finalizers.Nothing:
		return
	case finalizers.Store:
		obj.Finalizers, obj.Deletion = v.Finalizers, v.Deletion
		obj.GracePeriodSeconds, obj.Generation = v.GracePeriodSeconds, v.Generation
		s.rv++
	default:
		s.remove(key)
	}
}

func (s *server) remove(key objectKey) {
	delete(s.objects, key)
	s.rv++
	s.emit(Event{Type: Removed, Namespace: key.namespace, Revision: int64(s.rv)})
}

func (s *server) Metadata(_ context.Context, r Resource, namespace string) ([]Item, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("list %s in %s", r.Resource, namespace); err != nil {
		return nil, 0, err
	}
	var items []Item
	for _, key := range s.keys(r, namespace) {
		o := s.objects[key]
		items = append(items, Item{Name: key.name, Finalizers: o.Finalizers, Phase: o.phase, GraceSeconds: o.grace,
			Deleting: !o.Deletion.IsZero()})
	}
	return items, int64(s.rv), nil
}

func (s *server) keys(r Resource, namespace string) []objectKey {
	var keys []objectKey
	for key := range s.objects {
		if key.resource == r.GroupVersionResource && key.namespace == namespace {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b objectKey) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return keys
}

// add stores an object; a grace period makes it a pod on a node.
func (s *server) add(r Resource, namespace, name string, grace *int64, fs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &object{Object: finalizers.Object{Finalizers: fs}, grace: grace}
	if r == podType {
		o.kind = finalizers.Kind{Graceful: true, DefaultGraceSeconds: grace, GraceForbidden: grace == nil}
		o.phase = corev1.PodRunning
	}
	s.objects[objectKey{r.GroupVersionResource, namespace, name}] = o
	s.rv++
}

// release is a client that takes all finalizers off an object, or a kubelet that ends a pod.
func (s *server) release(r Resource, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := objectKey{r.GroupVersionResource, namespace, name}
	obj := s.objects[key]
	updated := obj.Object
	updated.Finalizers = nil
	zero := int64(0)
	if finalizers.Update(obj.Object, updated) == finalizers.Remove {
		s.remove(key)
		return
	}
	obj.Finalizers = nil
	s.delete(key, finalizers.Options{GracePeriodSeconds: &zero})
}
