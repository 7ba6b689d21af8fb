package policystatus

import (
	"context"
	"log/slog"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Manager is the field manager of the status (K controller.go: ControllerName).
const Manager = "validatingadmissionpolicy-status"

// API is the controller's interface to an API server. Errors are those of k8s.io/apimachinery/pkg/api/errors.
type API interface {
	// Follow calls sink with the names of all policies, and then with those that change. It returns when ctx is done,
	// or early with an error.
	Follow(ctx context.Context, sink func(name string)) error
	// Policy returns a policy, nil if there is none.
	Policy(name string) (*admissionv1.ValidatingAdmissionPolicy, error)
	// Check returns the warnings about the types in a policy's expressions.
	Check(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error)
	// ApplyStatus applies the fields of a policy's status that are set as the Manager, by force. The error is a
	// conflict if the policy no longer has the resourceVersion.
	ApplyStatus(ctx context.Context, p *admissionv1.ValidatingAdmissionPolicy) error
}

// backoff is the pause after failures: that of upstream's queue (CG util/workqueue: DefaultTypedControllerRateLimiter),
// whose first pauses are shorter.
var backoff = reconcile.Backoff{Min: 50 * time.Millisecond, Max: 1000 * time.Second}

// Controller reports the warnings.
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

// Run runs until ctx is done, and returns when all its goroutines have. The schemas of one policy's kinds may be large,
// so there is one worker, where upstream has five.
func (c *Controller) Run(ctx context.Context) {
	loop := reconcile.Loop[string, string, reconcile.Outcome]{
		Schedule: reconcile.NewKeys(backoff, strings.Compare), Workers: 1, Follow: c.api.Follow, Log: c.log,
		About: func(name string) reconcile.Object {
			return reconcile.Object{Group: "admissionregistration.k8s.io", Version: "v1",
				Resource: "validatingadmissionpolicies", Kind: "ValidatingAdmissionPolicy", Name: name}
		},
		What: "validating admission policies",
		Pass: func(ctx context.Context, name string) reconcile.Outcome {
			err := c.pass(ctx, name)
			if err != nil && ctx.Err() == nil {
				c.log.Warn("failed to check the types of a validating admission policy", "name", name, "err", err)
			}
			return reconcile.Outcome{Err: err}
		},
	}
	loop.Run(ctx)
}

// pass checks a policy and writes its status, unless its generation was checked (K controller.go: reconcile). After
// a conflict there is an event for the change.
func (c *Controller) pass(ctx context.Context, name string) error {
	p, err := c.api.Policy(name)
	if err != nil || p == nil || p.Generation <= p.Status.ObservedGeneration {
		return err
	}
	warnings, err := c.api.Check(p)
	if err != nil {
		return err
	}
	next := &admissionv1.ValidatingAdmissionPolicy{}
	next.Name, next.ResourceVersion = p.Name, p.ResourceVersion
	next.Status.ObservedGeneration = p.Generation
	next.Status.TypeChecking = &admissionv1.TypeChecking{ExpressionWarnings: warnings}
	if err := c.api.ApplyStatus(ctx, next); !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return err
	}
	return nil
}
