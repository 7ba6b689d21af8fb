package cluster

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
	"github.com/kubecascade/kubecascade/storage"
)

// storedOf is the metadata of a stored object.
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
	created, err := strconv.Unquote(string(member(member(stored.JSON, "metadata"), "creationTimestamp")))
	if err == nil {
		o.Created, _ = time.Parse(time.RFC3339, created) // zero if it is something else
	}
	return o
}

// completeOf is a stored object with what its deletion depends on. JSON that can't be decoded tells nothing.
func completeOf(r *Resource, o *storage.Object, p podFields) explain.Object {
	out := storedOf(r, o)
	dying := o.Meta.Deleting()
	if dying && len(out.Finalizers) > 0 {
		var managed metav1.PartialObjectMetadata
		if json.Unmarshal(o.JSON, &managed) == nil {
			out.Setters = setters(managed.ManagedFields)
		}
	}
	switch {
	case r.Delete.Namespace:
		var n corev1.Namespace
		if json.Unmarshal(o.JSON, &n) == nil {
			out.Namespace = namespaceOf(&n)
		}
	case r.Delete.Cleanup != "" && dying:
		var d apiextensionsv1.CustomResourceDefinition
		if json.Unmarshal(o.JSON, &d) == nil {
			out.CRD = crdOf(&d)
		}
	case r.Delete.Graceful:
		out.Pod = p.pod(o)
	}
	return out
}

// podFields are the indices of selectable fields of pods. They are read instead of the JSON, as there are many pods.
type podFields struct{ node, phase int }

func newPods(types *resources.Types, r *Resource) (p podFields) {
	p = podFields{-1, -1}
	entry := types.Lookup(r.Group, r.Versions[0], r.Plural)
	if entry == nil || !r.Delete.Graceful {
		return p
	}
	for i, f := range types.SelectableFields(entry.Collection) {
		switch strings.Join(f.Paths, ",") {
		case "spec.nodeName":
			p.node = i
		case "status.phase":
			p.phase = i
		}
	}
	return p
}

func (p podFields) pod(o *storage.Object) *explain.Pod {
	field := func(i int) string {
		if i < 0 || i >= len(o.Fields) {
			return ""
		}
		return o.Fields[i]
	}
	phase := corev1.PodPhase(field(p.phase))
	pod := &explain.Pod{
		Node: field(p.node), Finished: phase == corev1.PodSucceeded || phase == corev1.PodFailed,
		GraceSeconds: new(int64(corev1.DefaultTerminationGracePeriodSeconds)),
	}
	if n, err := strconv.ParseInt(string(member(member(o.JSON, "spec"), "terminationGracePeriodSeconds")), 10, 64); err == nil {
		pod.GraceSeconds = &n
	}
	return pod
}

func member(object []byte, name string) []byte {
	from, to := jsonscan.Member(object, name)
	return object[from:to]
}
