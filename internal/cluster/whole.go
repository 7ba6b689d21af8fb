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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Revision implements Source: the lists are of different moments.
func (c *Client) Revision() int64 { return 0 }

// Whole implements Source.
func (c *Client) Whole(ctx context.Context, res *Resource, sel Selector, into any) error {
	query := url.Values{}
	if sel.Labels != "" {
		query.Set("labelSelector", sel.Labels)
	}
	return c.getJSON(ctx, res.Path(sel.Namespace), query, into)
}

// Complete implements Source: it reads the finalizers in the spec of all namespaces, which pods are removed without a
// grace period, whole pods and CRDs that are being deleted, and whether the server is kubecascade.
func (c *Client) Complete(ctx context.Context, d *Discovery, got *explain.Cluster, namespace string) error {
	objects := make(map[graph.Key]*explain.Object, len(got.Objects))
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
	if err := c.completeNamespaces(ctx, d.Named(namespaces), objects, namespace); err != nil {
		return err
	}
	if err := c.completePods(ctx, d.Named(pods), objects, namespace); err != nil {
		return err
	}
	err := each(ctx, dying, func(o *explain.Object) error { return c.completeWhole(ctx, d, o) })
	if err != nil || len(got.Unavailable) == 0 {
		return err
	}
	own, err := c.Has(ctx, "preview")
	got.Held = !own
	return err
}

// completeNamespaces reads what the deletion of namespaces depends on: of all, or of the one that the user may get.
func (c *Client) completeNamespaces(
	ctx context.Context, res *Resource, objects map[graph.Key]*explain.Object, only string,
) error {
	if res == nil {
		return nil
	}
	var list corev1.NamespaceList
	var err error
	switch {
	case res.Unknown == "":
		err = c.getJSON(ctx, res.Path(""), nil, &list)
	case objects[graph.Key{Collection: namespaces, Name: only}] != nil:
		list.Items = make([]corev1.Namespace, 1)
		err = c.getJSON(ctx, res.Path("")+"/"+url.PathEscape(only), nil, &list.Items[0])
	}
	if err != nil {
		return err
	}
	for i := range list.Items {
		if o := objects[graph.Key{Collection: namespaces, Name: list.Items[i].Name}]; o != nil {
			o.Namespace = namespaceOf(&list.Items[i])
		}
	}
	return nil
}

// completePods finds the pods that are removed without a grace period: those that are on no node or have ended (C-30).
func (c *Client) completePods(
	ctx context.Context, res *Resource, objects map[graph.Key]*explain.Object, namespace string,
) error {
	if res == nil || !res.Listed {
		return nil
	}
	if res.Unknown == "" {
		namespace = ""
	}
	for _, selector := range []string{"spec.nodeName=", "status.phase=Succeeded", "status.phase=Failed"} {
		list, _ := c.list(ctx, res, namespace, metav1.ListOptions{FieldSelector: selector})
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

// completeWhole reads a pod or a CRD that is being deleted.
func (c *Client) completeWhole(ctx context.Context, d *Discovery, o *explain.Object) error {
	var raw json.RawMessage
	err := c.getJSON(ctx, d.Named(o.Collection).Path(o.Key.Namespace)+"/"+o.Name, nil, &raw)
	if err != nil {
		return ctx.Err() // else it is gone, or the user may not read it
	}
	if o.Collection == pods {
		var p corev1.Pod
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("%s: %w", o.Key, err)
		}
		o.Pod = &explain.Pod{
			Node: p.Spec.NodeName, GraceSeconds: p.Spec.TerminationGracePeriodSeconds,
			Finished: slices.Contains([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}, p.Status.Phase),
		}
		return nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &crd); err != nil {
		return fmt.Errorf("%s: %w", o.Key, err)
	}
	o.CRD = crdOf(&crd)
	return nil
}
