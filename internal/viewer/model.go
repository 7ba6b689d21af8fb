package viewer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/ui"
)

// mostObjects is how many objects are kept: twice those of a stream, so that namespaces of larger clusters can be seen.
const mostObjects = 2 * ui.MostObjects

// model is the metadata of a cluster's objects, with the last changes. Its methods may be called from any goroutine.
type model struct {
	// mu guards what follows.
	mu        sync.Mutex
	resources []ui.Resource
	objects   map[string]ui.Object
	// changes are the last ones; first is the number of the first of them.
	changes []ui.Change
	first   uint64
	// stale has the resources that can't be watched at present, with the reasons.
	stale map[string]string
	// overflow says that there are or were more than mostObjects objects, so that some are missing.
	overflow bool
	// generation grows when the resources change. changed is closed when anything does.
	generation int
	changed    chan struct{}
}

func newModel() *model {
	return &model{objects: map[string]ui.Object{}, stale: map[string]string{}, changed: make(chan struct{})}
}

// wake wakes the streams. mu is held.
func (m *model) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// serve sets the resources.
func (m *model) serve(all []ui.Resource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resources = all
	m.generation++
	m.wake()
}

// replace sets the objects of a resource; record says that what is new is a change.
func (m *model) replace(resource string, objects []ui.Object, record bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	have := map[string]bool{}
	for _, o := range objects {
		have[o.UID] = true
		m.set(o, record)
	}
	for _, uid := range slices.Sorted(maps.Keys(m.objects)) {
		if o := m.objects[uid]; o.Resource == resource && !have[uid] {
			m.drop(o)
		}
	}
	m.wake()
}

// set sets one object. mu is held.
func (m *model) set(o ui.Object, record bool) {
	before, there := m.objects[o.UID]
	if there && before.Same(&o) {
		return
	}
	if !there && len(m.objects) >= mostObjects {
		m.overflow = true
		return
	}
	m.objects[o.UID] = o
	if !record {
		m.generation++
		return
	}
	c := ui.Change{After: &o}
	if there {
		c.Before = &before
	}
	m.record(c)
}

func (m *model) drop(o ui.Object) {
	if before, ok := m.objects[o.UID]; ok {
		delete(m.objects, o.UID)
		m.record(ui.Change{Before: &before})
	}
}

func (m *model) record(c ui.Change) {
	c.Time = seconds(time.Now())
	m.changes = append(m.changes, c)
	if n := len(m.changes) - ui.MostPast; n >= ui.Batch {
		m.changes = slices.Delete(m.changes, 0, n)
		m.first += uint64(n)
	}
}

// event takes in an event of a watch.
func (m *model) event(kind string, o ui.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kind == "DELETED" {
		m.drop(o)
	} else {
		m.set(o, true)
	}
	m.wake()
}

// fail notes why a resource can't be watched; an empty reason, that it can.
func (m *model) fail(resource, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if why == "" {
		delete(m.stale, resource)
	} else {
		m.stale[resource] = why
	}
}

// troubles are what the page should say of the state. mu is held.
func (m *model) troubles() (all []string) {
	if m.overflow {
		all = append(all, fmt.Sprintf("some objects, as the cluster has more than %d", mostObjects))
	}
	for _, name := range slices.Sorted(maps.Keys(m.stale)) {
		all = append(all, name+": "+m.stale[name])
	}
	return all
}

// position is how far a stream has read.
type position struct {
	next       uint64
	generation int
}

// state returns the messages of the present state, and where to go on.
func (m *model) state(namespace string, past bool) ([]ui.Message, position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	messages := []ui.Message{{Type: ui.MessageBegin, Time: now, Source: ui.SourceLists, Resources: m.resources}}
	if past {
		for part := range slices.Chunk(within(m.changes, namespace), ui.Batch) {
			messages = append(messages, ui.Message{Type: ui.MessagePast, Time: now, Changes: part})
		}
	}
	var objects []ui.Object
	for _, o := range m.objects {
		if inside(&o, namespace) {
			objects = append(objects, o)
		}
	}
	slices.SortFunc(objects, func(a, b ui.Object) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	end := position{m.first + uint64(len(m.changes)), m.generation}
	if n := len(objects); n > ui.MostObjects {
		return nil, end
	}
	for part := range slices.Chunk(objects, ui.Batch) {
		messages = append(messages, ui.Message{Type: ui.MessageObjects, Time: now, Objects: part})
	}
	return append(messages, ui.Message{Type: ui.MessageSynced, Time: now}), end
}

// after returns the changes after a position; ok is false if a new state is needed.
func (m *model) after(p position, namespace string) (changes []ui.Change, next position, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.generation != m.generation || p.next < m.first {
		return nil, p, false
	}
	changes = within(m.changes[p.next-m.first:], namespace)
	p.next = m.first + uint64(len(m.changes))
	return changes, p, true
}

// waiting is closed when something has changed since the call.
func (m *model) waiting() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

func inside(o *ui.Object, namespace string) bool {
	return namespace == "" || o.Namespace == "" || o.Namespace == namespace
}

// within are the changes of a namespace, as a slice that does not change.
func within(changes []ui.Change, namespace string) (out []ui.Change) {
	for _, c := range changes {
		if inside(cmp.Or(c.After, c.Before), namespace) {
			out = append(out, c)
		}
	}
	return out
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// picture is the metadata as the page has it.
func picture(res *cluster.Resource, m *metav1.ObjectMeta) ui.Object {
	o := ui.Object{
		Resource: res.Name(), Namespace: m.Namespace, Name: m.Name, UID: string(m.UID), Finalizers: m.Finalizers,
		Labels: m.Labels,
	}
	if !m.CreationTimestamp.IsZero() {
		o.Created = m.CreationTimestamp.Unix()
	}
	if m.DeletionTimestamp != nil {
		o.Deletion = m.DeletionTimestamp.Unix()
		if m.DeletionGracePeriodSeconds != nil {
			o.Grace = *m.DeletionGracePeriodSeconds
		}
	}
	for _, r := range m.OwnerReferences {
		o.Owners = append(o.Owners, ui.Owner{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Controller: r.Controller != nil && *r.Controller, Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
	}
	return o
}
