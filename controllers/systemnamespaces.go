package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// systemNamespaces always exist (E-06). All but kube-node-lease can't be deleted either; that is done by the API
// server's admission (E-05).
var systemNamespaces = []string{
	metav1.NamespaceSystem, metav1.NamespacePublic, metav1.NamespaceDefault, corev1.NamespaceNodeLease,
}

// NamespaceAPI is the interface of EnsureSystemNamespaces to an API server.
type NamespaceAPI interface {
	// Lookup returns an object by a consistent read; NotFound if there is none.
	Lookup(ctx context.Context, r workload.Resource, key workload.Key) (workload.Object, error)
	// Create creates an object; AlreadyExists if there is one, terminating or not.
	Create(ctx context.Context, o workload.Object) (name string, err error)
}

// EnsureSystemNamespaces creates the missing system namespaces. It ignores terminating ones. A rejected request, for
// example by a webhook that is down, is only logged: the server must start so that users can remove the webhook, and
// the controller tries again (K pkg/controlplane/controller/systemnamespaces).
func EnsureSystemNamespaces(ctx context.Context, api NamespaceAPI, log *slog.Logger) error {
	var errs []error
	for _, name := range systemNamespaces {
		err := ensureNamespace(ctx, api, name)
		if _, rejected := errors.AsType[*apierrors.StatusError](err); rejected {
			log.Warn("failed to create a system namespace at the start", "err", err)
			continue
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ensureNamespace creates a namespace unless it exists. It reads the namespace first: otherwise each start would call
// webhooks.
func ensureNamespace(ctx context.Context, api NamespaceAPI, name string) error {
	_, err := api.Lookup(ctx, workload.Namespaces, workload.Key{Name: name})
	if err == nil {
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("looking up namespace %s: %w", name, err)
	}
	if _, err = api.Create(ctx, namespaceOf(name)); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return nil
}

func namespaceOf(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// keepSystemNamespaces creates the missing system namespaces, at the start and when one is deleted. Upstream checks
// once a minute; this waits for the event (E-06).
func keepSystemNamespaces() workload.Controller {
	var keys []workload.Key
	for _, name := range systemNamespaces {
		keys = append(keys, workload.Key{Name: name})
	}
	return workload.Controller{
		Name: "system-namespaces-controller", For: workload.Namespaces, Quiet: true, Task: "create a system namespace",
		Start: workload.StartWith(keys...), Most: time.Minute,
		Wake: func(_ workload.Reader, c workload.Change) []workload.Key {
			if c.New == nil && slices.Contains(systemNamespaces, c.Old.Name) {
				return []workload.Key{c.Old.Key}
			}
			return nil
		},
		Decide: func(v workload.View, _ time.Time) workload.Plan {
			if v.Object != nil {
				return workload.Plan{}
			}
			if err := v.Err(workload.Namespaces, "", v.Key.Name); err != nil {
				return workload.Plan{Err: err}
			}
			return workload.Plan{Do: []workload.Action{workload.Create{Object: namespaceOf(v.Key.Name)}}}
		},
	}
}
