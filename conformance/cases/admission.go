package cases

import (
	"net/http"

	c "github.com/kubecascade/kubecascade/conformance"
)

// guarded is the label of objects that policies and webhooks of these cases protect.
const guarded = "conformance.example.com/guarded"

func admission() []Case {
	return append(group("admission", policyPage, c.Cluster,
		prove("policy", admissionPolicy, "L-10 M-20 M-33 M-41",
			"A ValidatingAdmissionPolicy can deny a DELETE, by the object as it is stored; then nothing changes."),
		prove("options", admissionOptions, "L-70 M-33",
			"A policy sees the options of a DELETE, and may deny one propagationPolicy only."),
		prove("collection", admissionCollection, "L-15 M-S10 C-74",
			"A policy decides on each object of a collection's DELETE; the first denial is the response."),
		prove("removal-by-update", admissionUpdate, "L-14 B-20",
			"Removing the last finalizer of a terminating object is an update: policies for DELETE don't prevent it."),
		prove("cascade", admissionCascade, "L-20 D-48",
			"The collector's deletes are admitted like those of any client: a protected dependent stays, and goes when "+
				"it is no longer protected.", c.Collector),
		prove("foreground", admissionForeground, "L-20 D-43 D-47",
			"An owner that is deleted in the foreground waits for a dependent whose deletion is denied.", c.Collector),
		prove("orphan", admissionOrphan, "L-20 D-60",
			"The collector's updates are admitted, too: an owner waits until its dependents can be orphaned.", c.Collector),
		prove("namespace", admissionNamespace, "L-20 E-15",
			"A namespace stays while a policy denies the deletion of its content, and says so in its conditions.", c.Namespaces),
	), group("admission", hookPage, c.Cluster,
		prove("webhook", admissionWebhook, "L-10 L-40 L-83",
			"A DELETE is denied if a webhook for it can't be called and its failurePolicy is Fail; with Ignore it "+
				"succeeds."),
		prove("webhook-cascade", admissionWebhookCascade, "L-20 L-83",
			"The collector's deletes call webhooks, too: a dependent stays while its webhook can't be called.", c.Collector),
	)...)
}

// guard returns a selector of the objects with the label guarded in the namespace of an object.
func guard(o *Object) map[string]any {
	return map[string]any{
		"namespaceSelector": map[string]any{
			"matchLabels": map[string]any{"kubernetes.io/metadata.name": o.GetNamespace()},
		},
		"objectSelector": map[string]any{"matchLabels": map[string]any{guarded: "yes"}},
	}
}

func rules(operation string) []any {
	return []any{map[string]any{
		"operations": []any{operation}, "apiGroups": []any{""}, "apiVersions": []any{"v1"},
		"resources": []any{"configmaps"},
	}}
}

// forbid creates a policy, with a binding, for the guarded config maps in the namespace of marker. It waits until the
// policy denies a dry run of probe.
func forbid(t *T, marker *Object, operation, expression string, probe func() *c.Answer) (binding *Object) {
	match := guard(marker)
	match["resourceRules"] = rules(operation)
	policy := t.Make(c.ValidatingPolicy, "policy", with("spec", map[string]any{
		"matchConstraints": match,
		"validations":      []any{map[string]any{"expression": expression, "message": "it is guarded"}},
	}))
	binding = t.Make(c.ValidatingBinding, "binding", with("spec", map[string]any{
		"policyName": policy.GetName(), "validationActions": []any{"Deny"},
	}))
	inForce(t, probe, http.StatusUnprocessableEntity)
	return binding
}

// inForce waits until a dry run gets the response code.
func inForce(t *T, probe func() *c.Answer, code int) {
	t.Until("a dry run to be denied", func() (bool, string) {
		a := probe()
		return a.Code == code, "it is " + a.Text
	})
}

// with returns an option that sets a field of a new object.
func with(field string, value any) c.Option { return func(o *Object) { o.Object[field] = value } }

// marked creates a guarded config map that cases use only for dry runs.
func marked(t *T) (*Object, func() *c.Answer) {
	marker := t.Make(c.ConfigMap, "marker", c.Labelled(guarded, "yes"))
	return marker, func() *c.Answer { return t.TryDelete(marker, c.DryRun) }
}

// noDelete denies deletions of guarded config maps.
func noDelete(t *T) (binding *Object) {
	marker, probe := marked(t)
	return forbid(t, marker, "DELETE", "oldObject.metadata.name == 'never'", probe)
}

// unguard removes the label from an object.
func unguard(t *T, o *Object) *Object {
	return t.Patch(o, map[string]any{"metadata": map[string]any{"labels": map[string]any{guarded: nil}}})
}

func admissionPolicy(t *T) {
	kept, free := t.Make(c.ConfigMap, "kept", c.Labelled(guarded, "yes")), t.Make(c.ConfigMap, "free")
	noDelete(t)
	t.Rejected(t.TryDelete(kept), http.StatusUnprocessableEntity, "denied request: it is guarded")
	t.Expect(kept, c.Alive, c.Unchanged(kept))
	t.Delete(free)
	t.Expect(free, c.Gone)
	unguard(t, kept)
	t.Delete(kept)
	t.Expect(kept, c.Gone)
}

func admissionOptions(t *T) {
	kept := t.Make(c.ConfigMap, "kept", c.Labelled(guarded, "yes"))
	marker := t.Make(c.ConfigMap, "marker", c.Labelled(guarded, "yes"))
	forbid(t, marker, "DELETE",
		"!has(request.options.propagationPolicy) || request.options.propagationPolicy != 'Orphan'",
		func() *c.Answer { return t.TryDelete(marker, c.DryRun, c.Orphan) })
	t.Rejected(t.TryDelete(kept, c.Orphan), http.StatusUnprocessableEntity, "it is guarded")
	t.Untouched(kept)
	t.Delete(kept, c.Background)
	t.Expect(kept, c.Gone)
}

func admissionCollection(t *T) {
	kept := t.Make(c.ConfigMap, "kept", c.Labelled(guarded, "yes"), c.Labelled("set", "yes"))
	t.Make(c.ConfigMap, "free", c.Labelled("set", "yes"))
	noDelete(t)
	t.Rejected(t.Send(http.MethodDelete, c.ConfigMap.Path(kept.GetNamespace(), "")+"?labelSelector=set%3Dyes", nil),
		http.StatusUnprocessableEntity, "denied request: it is guarded")
	t.Untouched(kept)
	unguard(t, kept)
	t.DeleteCollection(c.ConfigMap, "?labelSelector=set%3Dyes")
	t.Expect(kept, c.Gone)
}

func admissionUpdate(t *T) {
	held := t.Make(c.ConfigMap, "held", c.Held, c.Labelled(guarded, "yes"))
	t.Delete(held)
	noDelete(t)
	releaseLast(t, held)
}

// family creates an owner with a guarded dependent and another one. Either both block the owner, or none.
func family(t *T, block bool) (owner, kept, free *Object) {
	owner = t.Make(c.ConfigMap, "owner")
	kept = t.Make(c.ConfigMap, "kept", c.Labelled(guarded, "yes"), c.By(owner, c.Blocks(block)))
	return owner, kept, t.Make(c.ConfigMap, "free", c.By(owner, c.Blocks(block)))
}

func admissionCascade(t *T) {
	owner, kept, free := family(t, false)
	noDelete(t)
	keepsGuarded(t, owner, kept, free)
}

// keepsGuarded deletes an owner in the background. The guarded dependent stays until it is no longer guarded.
func keepsGuarded(t *T, owner, kept, free *Object) {
	t.Delete(owner, c.Background)
	t.Await(free, c.Gone)
	t.Pass()
	t.Expect(kept, c.Alive)
	unguard(t, kept)
	t.Await(kept, c.Gone)
}

func admissionForeground(t *T) {
	owner, kept, free := family(t, true)
	noDelete(t)
	t.Settle()
	t.Delete(owner, c.Foreground)
	t.Await(free, c.Gone)
	t.Pass()
	t.Expect(kept, c.Alive)
	t.Expect(owner, c.Terminating, c.HasFinalizers(waiting))
	unguard(t, kept)
	t.AwaitAll([]*Object{kept, owner}, c.Gone)
}

func admissionOrphan(t *T) {
	owner, kept, _ := family(t, false)
	marker := t.Make(c.ConfigMap, "marker", c.Labelled(guarded, "yes"), c.By(owner, c.Blocks(false)))
	binding := forbid(t, marker, "UPDATE", "size(object.metadata.?ownerReferences.orValue([])) > 0", func() *c.Answer {
		return t.Send(http.MethodPut, marker.Path()+"?dryRun=All", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
				"name": marker.GetName(), "labels": map[string]any{guarded: "yes"}}})
	})
	t.Settle()
	t.Delete(owner, c.Orphan)
	t.Pass()
	t.Expect(kept, c.Alive, c.HasOwners(owner))
	t.Expect(owner, c.Terminating, c.HasFinalizers("orphan"))
	t.Delete(binding)
	t.Await(owner, c.Gone)
	t.Await(kept, c.Alive, c.HasOwners())
}

func admissionNamespace(t *T) {
	space := t.Namespace("guarded")
	kept := t.Make(c.ConfigMap, "kept", c.In(space), c.Labelled(guarded, "yes"))
	forbid(t, kept, "DELETE", "oldObject.metadata.name == 'never'", func() *c.Answer {
		return t.TryDelete(kept, c.DryRun)
	})
	t.Delete(space)
	t.Await(space, c.Terminating, c.HasCondition("NamespaceDeletionContentFailure"))
	t.Expect(kept, c.Alive)
	unguard(t, kept)
	t.AwaitAll([]*Object{kept, space}, c.Gone)
}

// unreachable creates a webhook for deletions of guarded config maps that the server can't reach. It waits until the
// webhook is in force.
func unreachable(t *T) (hook *Object) {
	marker, probe := marked(t)
	webhook := guard(marker)
	webhook["name"] = "unreachable.conformance.example.com"
	webhook["clientConfig"] = map[string]any{"url": "https://127.0.0.1:1/conformance"}
	webhook["rules"] = rules("DELETE")
	webhook["admissionReviewVersions"], webhook["sideEffects"] = []any{"v1"}, "None"
	webhook["failurePolicy"], webhook["timeoutSeconds"] = "Fail", int64(5)
	hook = t.Make(c.ValidatingWebhook, "webhook", with("webhooks", []any{webhook}))
	inForce(t, probe, http.StatusInternalServerError)
	return hook
}

func admissionWebhook(t *T) {
	kept, free := t.Make(c.ConfigMap, "kept", c.Labelled(guarded, "yes")), t.Make(c.ConfigMap, "free")
	hook := unreachable(t)
	t.Rejected(t.TryDelete(kept), http.StatusInternalServerError,
		`failed calling webhook "unreachable.conformance.example.com"`)
	t.Untouched(kept)
	t.Delete(free)
	t.Expect(free, c.Gone)
	webhook := hook.Object["webhooks"].([]any)[0].(map[string]any)
	webhook["failurePolicy"] = "Ignore"
	t.Patch(hook, map[string]any{"webhooks": []any{webhook}})
	t.Until("a DELETE to ignore the webhook", func() (bool, string) {
		a := t.TryDelete(kept)
		return a.Code == http.StatusOK, "it is " + a.Text
	})
	t.Expect(kept, c.Gone)
}

func admissionWebhookCascade(t *T) {
	owner, kept, free := family(t, false)
	unreachable(t)
	keepsGuarded(t, owner, kept, free)
}
