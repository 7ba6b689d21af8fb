package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// complete reads what the metadata lacks.
func (r *reader) complete(ctx context.Context, d *Discovery, got *explain.Cluster) error {
	objects := map[graph.Key]*explain.Object{}
	var dying []*explain.Object
	for i := range got.Objects {
		o := &got.Objects[i]
		objects[o.Key] = o
		if !o.Deletion.IsZero() && (o.Collection == pods || o.Collection == crds) {
			dying = append(dying, o)
		}
		if o.Collection == pods {
			o.Pod = &explain.Pod{Node: "unknown", GraceSeconds: new(int64(corev1.DefaultTerminationGracePeriodSeconds))}
		}
	}
	steps := []func(context.Context, *Discovery, *explain.Cluster, map[graph.Key]*explain.Object) error{
		r.namespaces, r.services, r.unscheduled, r.admission,
	}
	for _, f := range steps {
		if err := f(ctx, d, got, objects); err != nil {
			return err
		}
	}
	return each(ctx, dying, func(o *explain.Object) error { return r.whole(ctx, d, o) })
}

// The Names of resources of which more than the metadata is read.
const (
	pods        = "pods"
	namespaces  = "namespaces"
	crds        = "customresourcedefinitions.apiextensions.k8s.io"
	apiServices = "apiservices.apiregistration.k8s.io"
)

// namespaces reads the namespaces that are being deleted, and the finalizers in the spec of all.
func (r *reader) namespaces(
	ctx context.Context, d *Discovery, _ *explain.Cluster, objects map[graph.Key]*explain.Object,
) error {
	res := d.Named(namespaces)
	if res == nil || res.Unknown != "" {
		return nil
	}
	var list corev1.NamespaceList
	if err := r.c.getJSON(ctx, res.Path(""), nil, &list); err != nil {
		return err
	}
	for _, n := range list.Items {
		o := objects[graph.Key{Collection: namespaces, Name: n.Name}]
		if o == nil {
			continue
		}
		o.Namespace = NamespaceOf(&n)
	}
	return nil
}

// NamespaceOf is what the deletion of a namespace depends on.
func NamespaceOf(n *corev1.Namespace) *explain.Namespace {
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

// services reads which API services are not available.
func (r *reader) services(
	ctx context.Context, d *Discovery, got *explain.Cluster, _ map[graph.Key]*explain.Object,
) error {
	res := d.Named(apiServices)
	if res == nil || !res.Listed || res.Unknown != "" {
		return nil
	}
	var list apiregistrationv1.APIServiceList
	if err := r.c.getJSON(ctx, res.Path(""), nil, &list); err != nil {
		return err
	}
	for i := range list.Items {
		for _, s := range Unavailable(&list.Items[i]) {
			got.Unavailable = slices.DeleteFunc(got.Unavailable, func(u explain.Unavailable) bool { return u.Name == s.Name })
			got.Unavailable = append(got.Unavailable, s)
		}
	}
	return nil
}

// Unavailable is an APIService that is not available, by its conditions; nothing if it is.
func Unavailable(s *apiregistrationv1.APIService) (out []explain.Unavailable) {
	for _, c := range s.Status.Conditions {
		if c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionFalse {
			out = append(out, explain.Unavailable{Name: s.Name, Message: c.Message})
		}
	}
	return out
}

// unscheduled finds the pods that are removed without a grace period: those that are on no node or have ended (C-30).
func (r *reader) unscheduled(
	ctx context.Context, d *Discovery, _ *explain.Cluster, objects map[graph.Key]*explain.Object,
) error {
	res := d.Named(pods)
	if res == nil || !res.Listed {
		return nil
	}
	namespace := ""
	if res.Unknown != "" {
		namespace = r.o.Namespace
	}
	for _, selector := range []string{"spec.nodeName=", "status.phase=Succeeded", "status.phase=Failed"} {
		list, _ := r.c.List(ctx, res, namespace, url.Values{"fieldSelector": {selector}})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// An error means that the server knows no such field: grace periods stay what they are by default, and the list is
		// empty.
		for _, p := range list {
			if o := objects[p.Key]; o != nil {
				o.Pod.Node, o.Pod.Finished = strings.TrimSuffix(o.Pod.Node, "unknown"), selector != "spec.nodeName="
			}
		}
	}
	return nil
}

// whole reads an object whose kind has more to tell of its deletion.
func (r *reader) whole(ctx context.Context, d *Discovery, o *explain.Object) error {
	res := d.Named(o.Collection)
	var raw json.RawMessage
	err := r.c.getJSON(ctx, res.Path(o.Key.Namespace)+"/"+o.Name, nil, &raw)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	default: // it is gone, or the user may not read it
		return nil
	}
	if o.Collection == pods {
		var p corev1.Pod
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("%s: %w", o.Key, err)
		}
		o.Pod = &explain.Pod{
			Node: p.Spec.NodeName, GraceSeconds: p.Spec.TerminationGracePeriodSeconds,
			Finished: p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
		}
		return nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &crd); err != nil {
		return fmt.Errorf("%s: %w", o.Key, err)
	}
	o.CRD = CRDOf(&crd)
	return nil
}

// CRDOf is what the deletion of a CustomResourceDefinition depends on.
func CRDOf(d *apiextensionsv1.CustomResourceDefinition) *explain.CRD {
	out := &explain.CRD{Resource: d.Spec.Names.Plural + "." + d.Spec.Group}
	for _, c := range d.Status.Conditions {
		out.Conditions = append(out.Conditions, explain.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// namespace gets the namespace that is read by itself: who has all rights in a namespace may get it, but list none.
func (r *reader) namespace(ctx context.Context, res *Resource) (explain.Object, error) {
	var n corev1.Namespace
	if err := r.c.getJSON(ctx, res.Path("")+"/"+url.PathEscape(r.o.Namespace), nil, &n); err != nil {
		return explain.Object{}, err
	}
	o := object(res, &n.ObjectMeta)
	o.Namespace = NamespaceOf(&n)
	return o, nil
}
