package conformance

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// cleanUp deletes what the case made: objects lose their finalizers, namespaces take the rest along.
// It doesn't wait for the namespaces. Errors show in what is left behind.
func (t *T) cleanUp(ctx context.Context) {
	for _, j := range t.journals {
		j.stop()
	}
	clean := &T{ctx: ctx, client: t.client, started: time.Now()}
	for _, o := range t.made {
		if o.Of == Namespace {
			_, _ = t.client.do(ctx, http.MethodDelete, o.Path(), "", nil)
		}
	}
	for _, o := range slices.Backward(t.made) {
		clean.remove(o)
	}
}

// remove makes an object go, whatever state it is in.
func (t *T) remove(o *Object) {
	bare := &Object{Of: o.Of, Unstructured: *o.DeepCopy()}
	bare.SetUID("") // it may never have been answered
	now, _, err := t.get(bare)
	if err != nil || now == nil || t.ctx.Err() != nil {
		return
	}
	if o.Of == Namespace {
		t.unfinalize(now)
	} else if o.Of.ClusterScoped {
		_, _ = t.client.do(t.ctx, http.MethodDelete, o.Path()+"?propagationPolicy=Background", "", nil)
	}
	// A definition's finalizer is the server's own: its objects go before it.
	if len(now.GetFinalizers()) > 0 && o.Of != Definition {
		_, _ = t.client.do(t.ctx, http.MethodPatch, o.Path(), "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
	}
}

// unfinalize takes finalizers of the case's own off a namespace's spec.
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

// leftBehind waits until the cluster-scoped objects of a run, its namespaces among them, are gone,
// and names those that aren't when the time is up.
func leftBehind(ctx context.Context, c *Client, made []*Object) []string {
	t := &T{ctx: ctx, client: c, started: time.Now()}
	var left []string
	for _, o := range made {
		if !o.Of.ClusterScoped {
			continue
		}
		bare := &Object{Of: o.Of, Unstructured: *o.DeepCopy()}
		bare.SetUID("")
		for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
			now, _, err := t.get(bare)
			if err == nil && now == nil {
				break
			}
			if ctx.Err() != nil {
				left = append(left, o.String())
				break
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
	return left
}
