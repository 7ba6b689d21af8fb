package namespace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// systemNamespaces always exist (E-06). All but kube-node-lease can't be deleted either; that is done by the API
// server's admission (E-05).
var systemNamespaces = []string{
	metav1.NamespaceSystem, metav1.NamespacePublic, metav1.NamespaceDefault, corev1.NamespaceNodeLease,
}

// DefaultsAPI is the interface of Defaults to an API server.
type DefaultsAPI interface {
	Follower
	// Get returns a namespace, terminating or not; NotFound if there is none.
	Get(ctx context.Context, name string) (*corev1.Namespace, error)
	// Create creates a namespace; AlreadyExists if there is one, terminating or not.
	Create(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error)
}

// EnsureDefaults creates the missing system namespaces. It ignores terminating ones. A rejected request, as by a webhook
// that is down, is only logged: the server must start, so that the webhook can be removed, and Defaults tries again (K
// pkg/controlplane/controller/systemnamespaces). log may be nil.
func EnsureDefaults(ctx context.Context, api DefaultsAPI, log *slog.Logger) error {
	log = logger(log)
	var errs []error
	for _, name := range systemNamespaces {
		err := ensure(ctx, api, name)
		var rejected *apierrors.StatusError
		if errors.As(err, &rejected) {
			log.Warn("failed to create a system namespace at the start", "err", err)
			continue
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ensure creates a namespace unless it exists. It looks first, as a webhook would otherwise be called for each start.
func ensure(ctx context.Context, api DefaultsAPI, name string) error {
	_, err := api.Get(ctx, name)
	if err == nil {
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("looking up namespace %s: %w", name, err)
	}
	_, err = api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return nil
}

// Defaults creates the missing system namespaces, at the start and whenever one is deleted, until ctx is done. Upstream
// checks once a minute; this waits for the event (E-06). log may be nil.
func Defaults(ctx context.Context, api DefaultsAPI, log *slog.Logger) {
	log = logger(log)
	loop := reconcile.Loop[string, string, reconcile.Outcome]{
		Schedule: reconcile.NewKeys(backoff, strings.Compare), Workers: 1, About: reconcile.Namespace,
		Follow: func(ctx context.Context, sink func(string)) error {
			return api.Follow(ctx, func(e Event) {
				switch {
				case e.Type == Listed:
					for _, name := range systemNamespaces {
						sink(name)
					}
				case e.Type == Gone && slices.Contains(systemNamespaces, e.Namespace):
					sink(e.Namespace)
				}
			})
		},
		Pass: func(ctx context.Context, name string) reconcile.Outcome {
			err := ensure(ctx, api, name)
			if err != nil && ctx.Err() == nil {
				log.Warn("failed to create a system namespace", "err", err)
			}
			return reconcile.Outcome{Err: err}
		},
		Log: log, What: following,
	}
	loop.Run(ctx)
}
