package cluster

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/ui"
)

// The Names of resources of which more than the metadata is read.
const (
	pods        = "pods"
	namespaces  = "namespaces"
	crds        = "customresourcedefinitions.apiextensions.k8s.io"
	apiServices = "apiservices.apiregistration.k8s.io"
)

// metadataOf keeps what explain needs.
func metadataOf(res *Resource, m *metav1.ObjectMeta) explain.Object {
	o := explain.Object{
		Key: graph.Key{Collection: res.Name(), Namespace: m.Namespace, Name: m.Name}, UID: string(m.UID),
		Finalizers: m.Finalizers, Created: m.CreationTimestamp.Time, GraceSeconds: m.DeletionGracePeriodSeconds,
		Labels: m.Labels,
	}
	if m.DeletionTimestamp != nil {
		o.Deletion = m.DeletionTimestamp.Time
	}
	for _, r := range m.OwnerReferences {
		o.Owners = append(o.Owners, graph.Owner{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
		if r.Controller != nil && *r.Controller {
			o.Controller = string(r.UID)
		}
	}
	if len(m.Finalizers) > 0 {
		o.Setters = setters(m.ManagedFields)
	}
	return o
}

// storedOf is the metadata of a stored object. There are many: what storage has decoded is not decoded again.
func storedOf(r *Resource, stored *storage.Object) explain.Object {
	m := &stored.Meta
	o := explain.Object{
		Key: graph.Key{Collection: r.Name(), Namespace: m.Namespace, Name: m.Name}, UID: m.UID,
		Finalizers: m.Finalizers, Deletion: m.Deletion, GraceSeconds: m.GracePeriodSeconds, Labels: m.Labels,
	}
	for i := range m.Owners {
		w := &m.Owners[i]
		o.Owners = append(o.Owners, graph.Owner{
			APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID, Block: w.Block,
		})
		if w.Controller {
			o.Controller = w.UID
		}
	}
	metadata := member(stored.JSON, "metadata")
	o.Created, _ = time.Parse(time.RFC3339, text(member(metadata, "creationTimestamp"))) // zero if it is something else
	if m.Deleting() && len(m.Finalizers) > 0 {
		var managed []metav1.ManagedFieldsEntry
		if json.Unmarshal(member(metadata, "managedFields"), &managed) == nil {
			o.Setters = setters(managed)
		}
	}
	return o
}

// setters tells from managedFields which managers set the finalizers: "f:finalizers": {"v:\"NAME\"": {}}.
func setters(managedFields []metav1.ManagedFieldsEntry) map[string]string {
	found := map[string]string{}
	for _, f := range managedFields {
		if f.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(f.FieldsV1.Raw, &fields) != nil { // another format: it tells nothing
			continue
		}
		for name := range fields.Metadata.Finalizers {
			var value string
			if quoted, ok := strings.CutPrefix(name, "v:"); ok && json.Unmarshal([]byte(quoted), &value) == nil {
				found[value] = f.Manager
			}
		}
	}
	return found
}

// complete adds what the deletion of a pod, a namespace or a terminating CustomResourceDefinition depends on besides
// the metadata. JSON that can't be decoded tells nothing.
func complete(r *Resource, object []byte, o *explain.Object) {
	var whole struct {
		Spec   struct{ Finalizers []string }
		Status struct{ Conditions []explain.Condition }
	}
	switch {
	case r.Delete.Graceful:
		o.Pod = podOf(object)
	case !r.Delete.Namespace && (r.Delete.Cleanup == "" || o.Deletion.IsZero()):
	case json.Unmarshal(object, &whole) == nil:
		o.Conditions = whole.Status.Conditions
		if r.Delete.Namespace {
			o.SpecFinalizers = append([]string{}, whole.Spec.Finalizers...)
		}
	}
}

// podOf is what the deletion of a pod depends on. There are many: they are scanned, not decoded.
func podOf(object []byte) *explain.Pod {
	spec, phase := member(object, "spec"), corev1.PodPhase(text(member(member(object, "status"), "phase")))
	pod := &explain.Pod{
		Node: text(member(spec, "nodeName")), Finished: phase == corev1.PodSucceeded || phase == corev1.PodFailed,
		GraceSeconds: new(int64(corev1.DefaultTerminationGracePeriodSeconds)),
	}
	if n, err := strconv.ParseInt(string(member(spec, "terminationGracePeriodSeconds")), 10, 64); err == nil {
		pod.GraceSeconds = &n
	}
	return pod
}

// member is the value of the first member of a JSON object with the name; empty if there is none. What follows it is
// not scanned: of an object that is most of it, behind the metadata.
func member(object []byte, name string) []byte {
	s := jsonscan.New(object)
	if !s.Open('{') {
		return nil
	}
	for first := true; ; first = false {
		key, _, ok := s.Key(first)
		if !ok {
			return nil
		}
		s.Peek()
		at := s.Offset()
		if s.Skip(); key.Is(name) {
			return s.From(at)
		}
	}
}

// text is a JSON string without escapes; empty if it is something else.
func text(value []byte) string {
	s, _ := strconv.Unquote(string(value))
	return s
}

// picture is an object in the form of the page, in which a time of 0 is none; nil if it is.
func picture(o *explain.Object) *ui.Object {
	if o == nil {
		return nil
	}
	p := &ui.Object{
		Resource: o.Collection, Namespace: o.Namespace, Name: o.Name, UID: o.UID, Created: max(0, o.Created.Unix()),
		Deletion: max(0, o.Deletion.Unix()), Finalizers: o.Finalizers, Labels: o.Labels,
	}
	if o.GraceSeconds != nil {
		p.Grace = *o.GraceSeconds
	}
	for _, w := range o.Owners {
		p.Owners = append(p.Owners, ui.Owner{
			APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID, Controller: w.UID == o.Controller, Block: w.Block,
		})
	}
	return p
}

// Offline makes an explain.Cluster of stored objects that no server serves. One goroutine uses it.
type Offline struct {
	builtin map[string]*Resource
	objects []explain.Object
	unread  map[string]string
}

// NewOffline returns an Offline; types are the built-in ones.
func NewOffline(types *resources.Types) *Offline {
	f := &Offline{builtin: map[string]*Resource{}, unread: map[string]string{}}
	for _, r := range discover(types).Resources {
		f.builtin[collection(types, r)] = r
	}
	return f
}

// Add adds an object of a collection. One that can't be read makes its resource's objects not known, with the reason.
func (f *Offline) Add(collection string, o *storage.Object, why string) {
	r := f.builtin[collection]
	if r == nil { // a custom resource
		group, plural, _ := strings.Cut(collection, "/")
		r = &Resource{Resource: explain.Resource{Group: group, Plural: plural, Versions: []string{""}}}
	}
	if why != "" {
		f.unread[r.Name()] = why
		return
	}
	one := storedOf(r, o)
	complete(r, o.JSON, &one)
	f.objects = append(f.objects, one)
}

// Cluster is the cluster at a moment; types are all that are served there.
func (f *Offline) Cluster(types *resources.Types, now time.Time) *explain.Cluster {
	c := &explain.Cluster{Objects: f.objects, Now: now}
	for _, r := range discover(types).Resources {
		if r.Listed {
			r.Unknown = f.unread[r.Name()]
			c.Resources = append(c.Resources, r.Resource)
		}
	}
	return c
}
