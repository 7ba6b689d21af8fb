package aggregation

import (
	"context"
	"log/slog"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// API is the controller's interface to an API server.
type API interface {
	// Follow calls changed, from one goroutine, at the beginning and after every change of a cluster role, until ctx is
	// done; it returns early, with an error, if it can't continue.
	Follow(ctx context.Context, changed func()) error
	// Roles returns every cluster role, at least as new as the last call of changed.
	Roles() ([]*rbacv1.ClusterRole, error)
	// SetRules changes a role's rules. After NotFound and Conflict, there is a call of changed.
	SetRules(ctx context.Context, name string, rules []rbacv1.PolicyRule) error
}

// Controller keeps aggregated roles up to date.
type Controller struct {
	api API
	log *slog.Logger
}

// New returns a controller that is not running; a nil log is silent.
func New(api API, log *slog.Logger) *Controller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Controller{api, log}
}

// backoff is the pause after failures.
var backoff = reconcile.Backoff{Min: 50 * time.Millisecond, Max: time.Minute}

// roles is the only key: a pass is over all roles.
type roles struct{}

// Run runs until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	loop := reconcile.Loop[roles, roles, reconcile.Outcome]{
		Schedule: reconcile.NewKeys(backoff, func(roles, roles) int { return 0 }), Workers: 1,
		Follow: func(ctx context.Context, sink func(roles)) error {
			return c.api.Follow(ctx, func() { sink(roles{}) })
		},
		Pass: func(ctx context.Context, _ roles) reconcile.Outcome {
			err := c.pass(ctx)
			if err != nil && ctx.Err() == nil {
				c.log.Warn("failed to aggregate cluster roles", "err", err)
			}
			return reconcile.Outcome{Err: err}
		},
		Log: c.log, What: "cluster roles",
	}
	loop.Run(ctx)
}

// pass makes the changes; after a conflict, there is an event for the other change.
func (c *Controller) pass(ctx context.Context) (failed error) {
	all, err := c.api.Roles()
	if err != nil {
		return err
	}
	for _, change := range Changes(all) {
		err := c.api.SetRules(ctx, change.Name, change.Rules)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			failed = err
		}
	}
	return failed
}
