package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// right is a permission of the user.
type right struct{ verb, group, resource, subresource string }

func (r right) String() string {
	name := r.resource
	if r.group != "" {
		name += "." + r.group
	}
	if r.subresource != "" {
		name += "/" + r.subresource
	}
	return r.verb + " " + name
}

const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// may reports whether the user has the permission in all namespaces, according to the server. known is false if the
// server does not return a decision.
func (c *Client) may(ctx context.Context, r right) (allowed, known bool) {
	a, err := c.do(ctx, http.MethodPost, reviews, "application/json", map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{
			"verb": r.verb, "group": r.group, "resource": r.resource, "subresource": r.subresource}},
	})
	if err != nil || a.Code != http.StatusCreated {
		return false, false
	}
	status, _ := a.Body["status"].(map[string]any)
	allowed, known = status["allowed"].(bool)
	return allowed, known
}

// kinds are the kinds whose permissions are checked before the run.
var kinds = []Kind{
	ConfigMap, Secret, Event, Pod, ReplicationController, ReplicaSet, StatefulSet, Job, CronJob, Autoscaler, ClusterRole,
	ValidatingPolicy, ValidatingBinding, ValidatingWebhook,
	Definition,
}

// missing returns the permissions for the kinds of cases that the user lacks. One of them is update of the finalizers
// of owners, which OwnerReferencesPermissionEnforcement requires for blockOwnerDeletion.
func (c *Client) missing(ctx context.Context) (lacking []string) {
	for _, k := range kinds {
		for _, r := range []right{{"create", k.Group, k.Plural, ""}, {"get", k.Group, k.Plural, ""},
			{"patch", k.Group, k.Plural, ""},
			{"delete", k.Group, k.Plural, ""}, {"update", k.Group, k.Plural, "finalizers"}} {
			allowed, known := c.may(ctx, r)
			if !known {
				return nil
			}
			if !allowed {
				lacking = append(lacking, r.String())
			}
		}
	}
	return lacking
}

// rights returns the missing permissions, before any object is created. It returns an error if the user can't delete
// namespaces, because the cases' namespaces would remain.
func (r *runner) rights(ctx context.Context) (note string, err error) {
	if allowed, known := r.client.may(ctx, right{"delete", "", "namespaces", ""}); known && !allowed {
		return "", fmt.Errorf("%w: the user has no right to delete namespaces", ErrNoRight)
	}
	if lacking := r.client.missing(ctx); len(lacking) > 0 {
		note = fmt.Sprintf("the user has no right to %s. Cases that need it are skipped.", strings.Join(lacking, ", "))
	}
	return note, nil
}

// forbidden skips the case if the server denied its request and the user lacks the permission. If the user has all
// permissions, the case goes on, and fails by the response. If the server does not review permissions, a 403 whose
// message has the word "cannot" counts as a missing permission.
func (t *T) forbidden(a *Answer, r right) {
	if strings.Contains(a.Message(), "blockOwnerDeletion") { // the owner's resource is not in the response; it is one of the kinds of the case
		if lacking := t.client.missing(t.ctx); len(lacking) > 0 {
			panic(skipped("no right to update the finalizers of an owner that is to be blocked"))
		}
		return
	}
	if allowed, known := t.client.may(t.ctx, r); !allowed && (known || strings.Contains(a.Message(), "cannot")) {
		panic(skipped("no right to " + r.String() + ": " + a.Message()))
	}
}

// Right skips the case if the user lacks this permission for objects of the kind, or for their subresource. Cases call
// it before they create objects that they could not delete without the permission.
func (t *T) Right(verb string, k Kind, subresource string) {
	r := right{verb, k.Group, k.Plural, subresource}
	if allowed, known := t.client.may(t.ctx, r); known && !allowed {
		panic(skipped("no right to " + r.String()))
	}
}
