package bootstrap

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
)

// Roles creates missing default roles and bindings, and updates the others. The system namespaces must exist. It
// returns errors, but only logs a rejected request or an object that can't be decoded. Users can cause these, and must
// not prevent the server from starting (K pkg/registry/rbac/rest/storage_rbac.go: EnsureRBACPolicy).
func Roles(ctx context.Context, r *registry.Registry) error {
	e := &ensuring{r: r, l: r.AsServer("kube-apiserver")}
	all := DefaultRoles()
	var jobs []func(context.Context) error
	for _, want := range all.ClusterRoles {
		jobs = append(jobs, ensureJob(e, "clusterroles", want, updating(reconcileClusterRole)))
	}
	for _, want := range all.Roles {
		jobs = append(jobs, ensureJob(e, "roles", want, updating(reconcileRole)))
	}
	for _, want := range all.ClusterRoleBindings {
		jobs = append(jobs, ensureJob(e, "clusterrolebindings", want, func(a, b *rbacv1.ClusterRoleBinding) outcome {
			return reconcileBinding(roleBinding{&a.ObjectMeta, a.RoleRef, &a.Subjects},
				roleBinding{&b.ObjectMeta, b.RoleRef, &b.Subjects})
		}))
	}
	for _, want := range all.RoleBindings {
		jobs = append(jobs, ensureJob(e, "rolebindings", want, func(a, b *rbacv1.RoleBinding) outcome {
			return reconcileBinding(roleBinding{&a.ObjectMeta, a.RoleRef, &a.Subjects},
				roleBinding{&b.ObjectMeta, b.RoleRef, &b.Subjects})
		}))
	}
	if err := r.Fresh(ctx); err != nil { // each job first reads the cache
		return err
	}
	if err := runAll(ctx, jobs); err != nil {
		return err
	}
	return r.Fresh(ctx) // they must authorize the first request
}

// runAll runs the jobs, several at a time, and returns an error if one has failed.
func runAll(ctx context.Context, jobs []func(context.Context) error) error {
	var g errgroup.Group
	g.SetLimit(16)
	for _, job := range jobs {
		g.Go(func() error { return job(ctx) })
	}
	return g.Wait()
}

// ensuring sends the requests.
type ensuring struct {
	r *registry.Registry
	l *registry.Loopback
}

// maxAttempts is the maximum number of attempts for one object if other servers write it at the same time.
const maxAttempts = 8

// look finds an object, in the cache or by a consistent read. ok is false if it does not exist.
type look func(context.Context, registry.Path) (o *storage.Object, ok bool, err error)

// cached finds an object in the cache. Each job begins with it, because the cache is fresh: the 140 objects of a new
// cluster then take one request each instead of two.
func (e *ensuring) cached(_ context.Context, p registry.Path) (*storage.Object, bool, error) {
	o, _ := e.r.Cache.Get(e.l.Key(p.Resource, p.Namespace, p.Name))
	if o == nil {
		return nil, false, nil
	}
	return o, true, o.Err
}

// newest finds an object by a consistent read. If the object can't be decoded, it returns that error.
func (e *ensuring) newest(ctx context.Context, p registry.Path) (*storage.Object, bool, error) {
	o, err := e.l.Get(ctx, p)
	if err == nil {
		return o, true, nil
	}
	if _, _, bad := e.cached(ctx, p); bad != nil {
		return nil, false, bad
	}
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	return nil, false, err
}

// do calls try until there is no conflict, at most maxAttempts times. Only the first call reads the cache.
func (e *ensuring) do(p registry.Path, try func(look) error) (err error) {
	find := e.cached
	for range maxAttempts {
		err = try(find)
		find = e.newest
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
			break
		}
	}
	if err == nil {
		return nil
	}
	if rejected(err) {
		e.r.Log.Error("failed to create or update a default role or binding",
			"resource", p.Resource.Plural, "namespace", p.Namespace, "name", p.Name, "err", err)
		return nil
	}
	return fmt.Errorf("ensuring the default %s %s: %w", p.Resource.Plural, p.Name, err)
}

// create creates the object in its collection.
func (e *ensuring) create(ctx context.Context, p registry.Path, obj registry.Object) error {
	p.Name = ""
	_, err := e.l.Create(ctx, p, obj)
	return err
}

// ensureJob returns a job that creates an object, or changes or recreates it as reconcile decides.
func ensureJob[T registry.Object](e *ensuring, plural string, want T, reconcile func(have, want T) outcome) func(
	context.Context) error {
	p := registry.Path{Resource: e.r.Types.Lookup(rbacv1.GroupName, "v1", plural),
		Namespace: want.GetNamespace(), Name: want.GetName()}
	return func(ctx context.Context) error {
		return e.do(p, func(find look) error {
			stored, ok, err := find(ctx, p)
			if err != nil {
				return err
			}
			if !ok {
				return e.create(ctx, p, want)
			}
			o, err := registry.Decode(p.Resource, stored)
			if err != nil {
				return err
			}
			have := o.(T)
			switch reconcile(have, want) {
			case update:
				_, err = e.l.Update(ctx, p, have)
			case recreate:
				uid, rv := have.GetUID(), have.GetResourceVersion()
				same := &metav1.Preconditions{UID: &uid, ResourceVersion: &rv}
				if _, err = e.l.Delete(ctx, p, &metav1.DeleteOptions{Preconditions: same}); err == nil {
					err = e.create(ctx, p, want)
				}
			}
			return err
		})
	}
}

// updating returns the outcome of a function that reports whether it has changed an object.
func updating[T any](reconcile func(have, want T) bool) func(have, want T) outcome {
	return func(have, want T) outcome {
		if reconcile(have, want) {
			return update
		}
		return keep
	}
}
