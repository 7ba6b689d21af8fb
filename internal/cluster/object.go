package cluster

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
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
		Finalizers: m.Finalizers, GraceSeconds: m.DeletionGracePeriodSeconds, Labels: m.Labels,
	}
	if !m.CreationTimestamp.IsZero() {
		o.Created = m.CreationTimestamp.Time
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

// namespaceOf returns what the deletion of a namespace depends on.
func namespaceOf(n *corev1.Namespace) *explain.Namespace {
	out := &explain.Namespace{}
	for _, f := range n.Spec.Finalizers {
		out.Finalizers = append(out.Finalizers, string(f))
	}
	for _, c := range n.Status.Conditions {
		out.Conditions = append(out.Conditions, explain.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// crdOf returns what the deletion of a CustomResourceDefinition depends on.
func crdOf(d *apiextensionsv1.CustomResourceDefinition) *explain.CRD {
	out := &explain.CRD{Resource: d.Spec.Names.Plural + "." + d.Spec.Group}
	for _, c := range d.Status.Conditions {
		out.Conditions = append(out.Conditions, explain.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// onPage is a resource in the form of the page.
func onPage(r *explain.Resource) ui.Resource {
	return ui.Resource{
		Name: r.Name(), APIVersion: r.APIVersion(), Kind: r.Kind, Plural: r.Plural, Namespaced: r.Namespaced,
		Unknown: r.Unknown,
	}
}

// picture is an object in the form of the page; nil if it is.
func picture(o *explain.Object) *ui.Object {
	if o == nil {
		return nil
	}
	p := &ui.Object{
		Resource: o.Collection, Namespace: o.Key.Namespace, Name: o.Name, UID: o.UID,
		Finalizers: o.Finalizers, Labels: o.Labels,
	}
	if !o.Created.IsZero() {
		p.Created = o.Created.Unix()
	}
	if !o.Deletion.IsZero() {
		p.Deletion = o.Deletion.Unix()
		if o.GraceSeconds != nil {
			p.Grace = *o.GraceSeconds
		}
	}
	for _, w := range o.Owners {
		p.Owners = append(p.Owners, ui.Owner{
			APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID, Controller: w.UID == o.Controller, Block: w.Block,
		})
	}
	return p
}
