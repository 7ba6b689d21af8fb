package ownership

import (
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
	"github.com/kubecascade/kubecascade/storage"
)

// object is what gc/explain needs to know of a stored object. What depends on more than the metadata is read from the
// JSON, in which errors mean that nothing more is known.
func (r *row) object(o *storage.Object) *explain.Object {
	m := &o.Meta
	out := &explain.Object{
		Key: graph.Key{Collection: r.Name(), Namespace: m.Namespace, Name: m.Name}, UID: m.UID,
		Finalizers: m.Finalizers, Deletion: m.Deletion, GraceSeconds: m.GracePeriodSeconds, Labels: m.Labels,
	}
	for i := range m.Owners {
		w := &m.Owners[i]
		out.Owners = append(out.Owners, graph.Owner{
			APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID, Block: w.Block,
		})
		if w.Controller {
			out.Controller = w.UID
		}
	}
	if m.Deleting() && len(m.Finalizers) > 0 {
		out.Setters = setters(o.JSON)
	}
	switch {
	case r.Delete.Namespace:
		out.Namespace = namespaceOf(o.JSON)
	case r.Delete.Cleanup != "" && m.Deleting():
		out.CRD = definitionOf(o.JSON)
	case r.Delete.Graceful:
		out.Pod = r.pod(o)
	}
	return out
}

// setters are the field managers that set the finalizers.
func setters(object []byte) map[string]string {
	var o struct {
		Metadata struct {
			ManagedFields []metav1.ManagedFieldsEntry `json:"managedFields"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &o) != nil {
		return nil
	}
	return cluster.Setters(o.Metadata.ManagedFields)
}

func namespaceOf(object []byte) *explain.Namespace {
	var n corev1.Namespace
	if json.Unmarshal(object, &n) != nil {
		return nil
	}
	return cluster.NamespaceOf(&n)
}

func definitionOf(object []byte) *explain.CRD {
	var d apiextensionsv1.CustomResourceDefinition
	if json.Unmarshal(object, &d) != nil {
		return nil
	}
	return cluster.CRDOf(&d)
}

// pod reads selectable fields and one number only: there are many pods.
func (r *row) pod(o *storage.Object) *explain.Pod {
	p := &explain.Pod{GraceSeconds: new(int64(corev1.DefaultTerminationGracePeriodSeconds))}
	if i := r.node; i >= 0 && i < len(o.Fields) {
		p.Node = o.Fields[i]
	}
	if i := r.phase; i >= 0 && i < len(o.Fields) {
		phase := corev1.PodPhase(o.Fields[i])
		p.Finished = phase == corev1.PodSucceeded || phase == corev1.PodFailed
	}
	spec := member(o.JSON, "spec")
	if n, err := strconv.ParseInt(string(member(spec, "terminationGracePeriodSeconds")), 10, 64); err == nil {
		p.GraceSeconds = &n
	}
	return p
}

func member(object []byte, name string) []byte {
	from, to := jsonscan.Member(object, name)
	return object[from:to]
}
