package cluster

import (
	"cmp"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/ui"
)

// The Names of resources of which more than the metadata is read.
const (
	namespaces  = "namespaces"
	crds        = "customresourcedefinitions.apiextensions.k8s.io"
	apiServices = "apiservices.apiregistration.k8s.io"
	claims      = "persistentvolumeclaims"
	volumes     = "persistentvolumes"
	serviceIPs  = "ipaddresses.networking.k8s.io"
	ranges      = "servicecidrs.networking.k8s.io"
)

// metadataOf returns an object with this metadata. name is the Name of its resource.
func metadataOf(name string, m *metav1.ObjectMeta) *explain.Object {
	meta := storage.Meta{
		Namespace: m.Namespace, Name: m.Name, UID: string(m.UID), Labels: m.Labels, Finalizers: m.Finalizers,
		GracePeriodSeconds: m.DeletionGracePeriodSeconds, Created: m.CreationTimestamp.Time,
	}
	if m.DeletionTimestamp != nil {
		meta.Deletion = m.DeletionTimestamp.Time
	}
	for _, r := range m.OwnerReferences {
		meta.Owners = append(meta.Owners, storage.Owner{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Controller: r.Controller != nil && *r.Controller, Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
	}
	return objectOf(name, &meta, func() []metav1.ManagedFieldsEntry { return m.ManagedFields })
}

// storedOf returns the metadata of a stored object.
func storedOf(name string, stored *storage.Object) *explain.Object {
	return objectOf(name, &stored.Meta, func() []metav1.ManagedFieldsEntry {
		var m struct{ ManagedFields []metav1.ManagedFieldsEntry }
		_ = json.Unmarshal(stored.Metadata(), &m) // something else has no entries
		return m.ManagedFields
	})
}

// Stored returns a stored object, with all that its deletion depends on.
func Stored(r *Resource, stored *storage.Object) *explain.Object {
	o := storedOf(r.Name(), stored)
	complete(r, stored.JSON, o)
	return o
}

// objectOf makes an object. managed returns its managedFields, which matter only while finalizers keep it.
func objectOf(name string, m *storage.Meta, managed func() []metav1.ManagedFieldsEntry) *explain.Object {
	o := &explain.Object{
		Key: graph.Key{Collection: name, Namespace: m.Namespace, Name: m.Name}, UID: m.UID, Created: m.Created,
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
	if m.Deleting() && len(m.Finalizers) > 0 {
		o.Setters = setters(managed())
	}
	return o
}

// setters returns the managers that set the finalizers, from managedFields: "f:finalizers": {"v:\"NAME\"": {}}.
func setters(managedFields []metav1.ManagedFieldsEntry) map[string]string {
	found := map[string]string{}
	for _, f := range managedFields {
		var fields struct {
			Metadata struct {
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if f.FieldsV1 == nil || json.Unmarshal(f.FieldsV1.Raw, &fields) != nil { // another format
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

// incomplete reports whether the deletion of an object depends on more than its metadata: of a
// CustomResourceDefinition only while it is terminating, as others are large.
func incomplete(r *Resource, o *explain.Object) bool {
	return r.Delete.Namespace || r.Delete.Graceful || o.Collection == claims || o.Collection == volumes ||
		r.Delete.Cleanup != "" && !o.Deletion.IsZero()
}

// details has the fields, besides metadata, on which the deletion of an object depends.
type details struct {
	Spec struct {
		Finalizers                            []string
		VolumeName, VolumeAttributesClassName string
		NodeName                              string
		TerminationGracePeriodSeconds         *int64
		Volumes                               []struct {
			Name                  string
			Ephemeral             *struct{}
			PersistentVolumeClaim struct{ ClaimName string }
		}
		SchedulingGroup struct{ PodGroupName string }
		ResourceClaims  []resourceClaim
	}
	Status struct {
		Phase                            string
		Conditions                       []explain.Condition
		CurrentVolumeAttributesClassName string
		ModifyVolumeStatus               struct{ TargetVolumeAttributesClassName string }
		ResourceClaimStatuses            []resourceClaim
	}
}

type resourceClaim struct{ ResourceClaimName string }

// complete adds the details of an object, as far as they can be decoded.
func complete(r *Resource, object []byte, o *explain.Object) {
	var d details
	_ = json.Unmarshal(object, &d) // a field of a wrong type does not prevent the others
	switch {
	case !incomplete(r, o):
		return
	case r.Delete.Graceful:
		d.ofPod(o)
		return
	case r.Delete.Namespace:
		o.SpecFinalizers = append([]string{}, d.Spec.Finalizers...)
	}
	o.Conditions = d.Status.Conditions
	found := used{}
	if d.Status.Phase == string(corev1.ClaimBound) { // F-03: the volume is bound, too
		found.add(o, volumes, "", d.Spec.VolumeName)
	}
	for _, class := range []string{ // F-08
		d.Spec.VolumeAttributesClassName, d.Status.CurrentVolumeAttributesClassName,
		d.Status.ModifyVolumeStatus.TargetVolumeAttributesClassName,
	} {
		found.add(o, "volumeattributesclasses.storage.k8s.io", "", class)
	}
}

// ofPod adds the details of a pod. It uses claims, if it is on a node (F-04, F-07), and, until it has finished, its
// group and resource claims (F-17, F-19). A claim with the name of an ephemeral volume's claim counts as that claim.
func (d *details) ofPod(o *explain.Object) {
	phase, found := corev1.PodPhase(d.Status.Phase), used{}
	o.Pod = &explain.Pod{
		Node: d.Spec.NodeName, Finished: phase == corev1.PodSucceeded || phase == corev1.PodFailed,
		GraceSeconds: cmp.Or(d.Spec.TerminationGracePeriodSeconds, new(int64(corev1.DefaultTerminationGracePeriodSeconds))),
	}
	for _, v := range d.Spec.Volumes {
		claim := v.PersistentVolumeClaim.ClaimName
		if v.Ephemeral != nil {
			claim = o.Name + "-" + v.Name
		}
		if o.Pod.Node != "" {
			found.add(o, claims, o.Namespace, claim)
		}
	}
	if o.Pod.Finished {
		return
	}
	found.add(o, "podgroups.scheduling.k8s.io", o.Namespace, d.Spec.SchedulingGroup.PodGroupName)
	for _, c := range append(d.Spec.ResourceClaims, d.Status.ResourceClaimStatuses...) {
		found.add(o, "resourceclaims.resource.k8s.io", o.Namespace, c.ResourceClaimName)
	}
}

// used has the objects that an object uses.
type used map[graph.Key]bool

// add records that the object uses the object with the name; an empty name has no effect.
func (u used) add(o *explain.Object, collection, namespace, name string) {
	k := graph.Key{Collection: collection, Namespace: namespace, Name: name}
	if name != "" && !u[k] {
		u[k] = true
		o.Uses = append(o.Uses, []graph.Key{k})
	}
}

// picture returns an object in the form of the page, in which 0 means no time; nil for nil.
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
