package conformance

import (
	"context"
	"net/http"
	"slices"
)

// cleanUp removes the finalizers of the case's objects, and deletes its namespaces and cluster-scoped objects. It does
// not wait until the namespaces are gone, and ignores errors: leftBehind reports the objects that remain.
func (t *T) cleanUp(ctx context.Context) {
	clean := &T{ctx: ctx, client: t.client}
	for _, o := range t.made {
		if o.Of == Namespace {
			_, _ = t.client.do(ctx, http.MethodDelete, o.Path(), "", nil)
		}
	}
	for _, o := range slices.Backward(t.made) {
		clean.remove(o)
	}
}

// remove deletes an object in any state.
func (t *T) remove(o *Object) {
	now, _, err := t.get(o.anonymous())
	if err != nil || now == nil || t.ctx.Err() != nil {
		return
	}
	if o.Of == Namespace {
		t.unfinalize(now)
	} else if o.Of.ClusterScoped {
		_, _ = t.client.do(t.ctx, http.MethodDelete, o.Path()+"?propagationPolicy=Background", "", nil)
	}
	// The finalizer of a CustomResourceDefinition is the server's: the server deletes its objects first.
	if len(now.GetFinalizers()) > 0 && o.Of != Definition {
		_, _ = t.client.do(
			t.ctx, http.MethodPatch, o.Path(), "application/merge-patch+json", `{"metadata":{"finalizers":null}}`,
		)
	}
}

// unfinalize removes the case's finalizers from a namespace's spec.
func (t *T) unfinalize(ns *Object) {
	spec, _ := ns.Object["spec"].(map[string]any)
	all, _ := spec["finalizers"].([]any)
	kept := slices.DeleteFunc(slices.Clone(all), func(f any) bool { return f != "kubernetes" })
	if len(kept) == len(all) {
		return
	}
	spec["finalizers"] = kept
	_, _ = t.client.do(t.ctx, http.MethodPut, ns.Path()+"/finalize", "application/json", ns.Object)
}

// leftBehind waits until the cluster-scoped objects of a run, including its namespaces, are gone. It returns those that
// still exist when ctx ends.
func leftBehind(ctx context.Context, c *Client, made []*Object) []string {
	t := &T{ctx: ctx, client: c}
	var left []string
	for _, o := range made {
		if o.Of.ClusterScoped && !poll(ctx, func() bool {
			now, _, err := t.get(o.anonymous())
			return err == nil && now == nil
		}) {
			left = append(left, o.String())
		}
	}
	return left
}

// anonymous returns the object without its UID. The case may not have received the response that has the UID.
func (o *Object) anonymous() *Object {
	bare := &Object{Of: o.Of, Unstructured: *o.DeepCopy()}
	bare.SetUID("")
	return bare
}
