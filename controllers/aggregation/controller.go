package aggregation

import (
	"context"
	"log/slog"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// API is the controller's interface to an API server. One goroutine calls it.
type API interface {
	// Roles returns every cluster role, once there is a change since the last call; the first call returns at once.
	// Errors: ctx's; other errors are temporary.
	Roles(ctx context.Context) ([]*rbacv1.ClusterRole, error)
	// SetRules changes a role's rules. After NotFound and Conflict, Roles returns the change.
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

// Pauses after failures.
const (
	minPause = 50 * time.Millisecond
	maxPause = time.Minute
)

// Run runs until ctx is done.
func (c *Controller) Run(ctx context.Context) {
	ctx, end := reconcile.Join(ctx)
	defer end()
	pause := minPause
	var roles []*rbacv1.ClusterRole
	for again := false; ; {
		var err error
		if !again {
			roles, err = c.api.Roles(ctx)
		}
		if err == nil {
			err = c.pass(ctx, roles)
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			again, pause = false, minPause
			continue
		}
		c.log.Warn("failed to aggregate cluster roles", "err", err, "again", pause)
		again = roles != nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// pass makes the changes; after a conflict, Roles returns the role again.
func (c *Controller) pass(ctx context.Context, roles []*rbacv1.ClusterRole) (failed error) {
	for _, change := range Changes(roles) {
		err := c.api.SetRules(ctx, change.Name, change.Rules)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			failed = err
		}
	}
	return failed
}
