package protection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/finalizers"
)

// server is an API server of the four kinds, in memory. What deletes and updates mean is decided by
// package finalizers, as in the real one; resourceVersions conflict, events follow.
type server struct {
	mu        sync.Mutex // guards everything below
	rv        int
	objects   map[objectKey]Object
	followers map[*follower]struct{}
	// fail, if set, may reject a request: "update PersistentVolume /v".
	fail func(request string) error
	// requests are what was asked for, in order.
	requests []string
}

type objectKey struct {
	kind Kind
	Key
}

type follower struct {
	kind   Kind
	users  []Kind
	events []Event
	wake   chan struct{}
	err    error
}

func newServer() *server {
	return &server{objects: map[objectKey]Object{}, followers: map[*follower]struct{}{}}
}

// request records a request and returns the error that rejects it, if any.
func (s *server) request(verb string, kind Kind, key Key) error {
	r := fmt.Sprintf("%s %v %s/%s", verb, kind, key.Namespace, key.Name)
	s.requests = append(s.requests, r)
	if s.fail != nil {
		return s.fail(r)
	}
	return nil
}

func (s *server) Follow(ctx context.Context, kind Kind, users []Kind, sink func(Event)) error {
	s.mu.Lock()
	if err := s.request("follow", kind, Key{}); err != nil {
		s.mu.Unlock()
		return err
	}
	f := &follower{kind: kind, users: users, wake: make(chan struct{}, 1), events: []Event{{Type: Began}}}
	for key, o := range s.objects {
		if key.kind == kind {
			f.events = append(f.events, Event{Type: Protected, Key: key.Key, New: o})
		}
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

// breakStreams ends every Follow; what was not told by then is lost.
func (s *server) breakStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.followers {
		f.err, f.events = errors.New("stream broken"), nil
		delete(s.followers, f)
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// commit stores an object, or removes it, and tells. o is not shared with the caller.
func (s *server) commit(kind Kind, key Key, o Object) {
	old := s.objects[objectKey{kind, key}]
	s.rv++
	if o == nil {
		delete(s.objects, objectKey{kind, key})
	} else {
		o.SetResourceVersion(strconv.Itoa(s.rv))
		s.objects[objectKey{kind, key}] = o
	}
	for f := range s.followers {
		switch {
		case f.kind == kind:
			f.events = append(f.events, Event{Type: Protected, Key: key, New: o})
		case old != nil && slices.Contains(f.users, kind):
			f.events = append(f.events, Event{Type: User, Key: key, Old: old, New: o})
		}
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

func (s *server) Get(_ context.Context, kind Kind, key Key) (Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("get", kind, key); err != nil {
		return nil, err
	}
	return s.get(kind, key)
}

func (s *server) get(kind Kind, key Key) (Object, error) {
	o := s.objects[objectKey{kind, key}]
	if o == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind.String()}, key.Name)
	}
	return o.DeepCopyObject().(Object), nil
}

func (s *server) Users(_ context.Context, kind Kind, keys []Key) ([]Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	namespace := keys[0].Namespace
	if err := s.request("users", kind, Key{Namespace: namespace}); err != nil {
		return nil, err
	}
	var users []Object
	for key, o := range s.objects {
		if key.kind == kind && (namespace == "" || namespace == key.Namespace) {
			users = append(users, o.DeepCopyObject().(Object))
		}
	}
	slices.SortFunc(users, func(a, b Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return users, nil
}

func (s *server) Update(_ context.Context, kind Kind, o Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("update", kind, keyOf(o)); err != nil {
		return err
	}
	old, err := s.get(kind, keyOf(o))
	if err != nil {
		return err
	}
	if old.GetResourceVersion() != o.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Resource: kind.String()}, o.GetName(), errors.New("stale"))
	}
	next := o.DeepCopyObject().(Object)
	if finalizers.Update(lifecycle(old), lifecycle(next), time.Now()).Step == finalizers.Remove {
		next = nil
	}
	s.commit(kind, keyOf(o), next)
	return nil
}

// lifecycle is what finalizers needs of an object.
func lifecycle(o Object) finalizers.Object {
	out := finalizers.Object{Finalizers: o.GetFinalizers(), GracePeriodSeconds: o.GetDeletionGracePeriodSeconds()}
	if dying(o) {
		out.Deletion = o.GetDeletionTimestamp().Time
	}
	return out
}

// put is what a client does to create an object or to change it, whatever it was before.
func (s *server) put(kind Kind, o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commit(kind, keyOf(o), o.DeepCopyObject().(Object))
}

// edit is what a client does to change an object.
func (s *server) edit(kind Kind, key Key, fn func(Object)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(kind, key)
	if err != nil {
		panic(err)
	}
	fn(o)
	s.commit(kind, key, o)
}

// delete is what a client does.
func (s *server) delete(kind Kind, key Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(kind, key)
	if err != nil {
		panic(err)
	}
	v := finalizers.Delete(lifecycle(o), finalizers.Kind{}, finalizers.Options{}, time.Now())
	switch v.Step {
	case finalizers.Nothing:
	case finalizers.Store:
		o.SetDeletionTimestamp(&metav1.Time{Time: v.Deletion})
		o.SetDeletionGracePeriodSeconds(v.GracePeriodSeconds)
		o.SetFinalizers(v.Finalizers)
		s.commit(kind, key, o)
	default:
		s.commit(kind, key, nil)
	}
}
