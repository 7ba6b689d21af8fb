package resources

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/storage"
)

// selectable is one label of a field selector. Its value stands at the paths, by default at the
// one that the label names; unset is the value of what the stored JSON leaves out, which is what
// the kind's defaults would fill in.
type selectable struct {
	label string
	paths []string
	unset string
	// empty labels are accepted, but upstream fills in no value for them.
	empty bool
}

// selectables are the kinds with labels of their own (H-42).
var selectables = map[schema.GroupResource][]selectable{
	{Resource: "pods"}: {
		{label: "spec.nodeName"},
		{label: "spec.restartPolicy", unset: "Always"},
		{label: "spec.schedulerName", unset: "default-scheduler"},
		{label: "spec.serviceAccountName"},
		{label: "spec.hostNetwork", unset: "false"},
		{label: "status.phase"},
		{label: "status.podIP"},
		{label: "status.podIPs", empty: true}, // K registry/core/pod/strategy.go:ToSelectableFields
		{label: "status.nominatedNodeName"},
	},
	{Resource: "nodes"}:                  {{label: "spec.unschedulable", unset: "false"}},
	{Resource: "namespaces"}:             {{label: "status.phase", unset: "Active"}},
	{Resource: "secrets"}:                {{label: "type", unset: "Opaque"}},
	{Resource: "services"}:               {{label: "spec.clusterIP"}, {label: "spec.type", unset: "ClusterIP"}},
	{Resource: "replicationcontrollers"}: {{label: "status.replicas", unset: "0"}},
	{Resource: "events"}: append(eventFields("involvedObject", "reportingComponent"),
		// Last, so that the fields before it are those of events.k8s.io, in the same order.
		selectable{label: "source", paths: []string{"source.component", "reportingComponent"}}),
	{Group: "events.k8s.io", Resource: "events"}:                           eventFields("regarding", "reportingController"),
	{Group: "batch", Resource: "jobs"}:                                     {{label: "status.successful", paths: []string{"status.succeeded"}, unset: "0"}},
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: {{label: "spec.signerName"}},
	{Group: "resource.k8s.io", Resource: "resourceslices"}:                 {{label: "spec.nodeName"}, {label: "spec.driver"}},
}

// eventFields are the fields of both versions of events, which name them differently; the
// stored JSON is v1's.
func eventFields(object, controller string) []selectable {
	var s []selectable
	for _, f := range []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"} {
		s = append(s, selectable{label: object + "." + f, paths: []string{"involvedObject." + f}})
	}
	return append(s, selectable{label: "reason"},
		selectable{label: controller, paths: []string{"reportingComponent"}}, selectable{label: "type"})
}

// fieldErrors are the texts that differ from "field label not supported: %s" (H-42).
var fieldErrors = map[schema.GroupResource]string{
	{Group: "batch", Resource: "jobs"}:                     "field label %q not supported for Job",
	{Group: "resource.k8s.io", Resource: "resourceslices"}: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
}

var fieldAliases = map[schema.GroupResource]map[string]string{
	{Resource: "pods"}: {"spec.host": "spec.nodeName"},
}

func selectFields(r *Resource) {
	gr := r.GroupResource()
	for _, s := range selectables[gr] {
		r.FieldNames = append(r.FieldNames, s.label)
		paths := s.paths
		if paths == nil && !s.empty {
			paths = []string{s.label}
		}
		r.Fields = append(r.Fields, storage.FieldPath{Paths: paths, Default: s.unset})
	}
	r.FieldError, r.FieldAliases = fieldErrors[gr], fieldAliases[gr]
}

// FieldLabel resolves a label of a field selector: it returns the label to match by, which is
// metadata.name, metadata.namespace or one of FieldNames. The error's text is what a client sees
// of a label that is not supported (H-41, H-42).
func (r *Resource) FieldLabel(label string) (string, error) {
	if a, ok := r.FieldAliases[label]; ok {
		label = a
	}
	own := r.Custom || len(r.FieldNames) > 0
	switch {
	case label == "metadata.name", slices.Contains(r.FieldNames, label):
		return label, nil
	case label == "metadata.namespace" && (r.Namespaced || !own):
		return label, nil // kinds without labels of their own take it even if cluster-scoped (H-41)
	case !own:
		return "", fmt.Errorf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, label)
	case r.FieldError != "":
		return "", fmt.Errorf(r.FieldError, label)
	}
	return "", fmt.Errorf("field label not supported: %s", label)
}
