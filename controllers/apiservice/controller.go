package apiservice

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// workers is the maximum number of concurrent passes, as upstream's.
const workers = 5

// backoff is the pause after failures, as in upstream's availability controllers.
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 30 * time.Second}

// Controller keeps APIServices.
type Controller struct {
	api API
	log *slog.Logger
	now func(context.Context) time.Time

	// mu guards the fields below.
	mu sync.Mutex
	// stored are the APIServices that existed at the start; nil before they are known. kept are those of built-in group
	// versions over which a pass has succeeded; it has no others.
	stored, kept map[string]bool
}

// New returns a controller that is not running; log may be nil. It runs once.
func New(api API, log *slog.Logger) *Controller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Controller{api: api, log: log, now: reconcile.Now, kept: map[string]bool{}}
}

// Run runs until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	loop := reconcile.Loop[string, string, reconcile.Outcome]{Schedule: reconcile.NewKeys(backoff, strings.Compare),
		Workers: workers,
		Follow:  func(ctx context.Context, sink func(string)) error { return c.api.Follow(ctx, c.begin, sink) },
		Pass:    c.keep, About: about, Log: c.log, What: "APIServices"}
	loop.Run(ctx)
}

// about names an APIService.
func about(name string) reconcile.Object {
	return reconcile.Object{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Kind: "APIService", Name: name,
	}
}

// begin records the stored APIServices, the first time.
func (c *Controller) begin(stored []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored != nil {
		return
	}
	c.stored = make(map[string]bool, len(stored))
	for _, name := range stored {
		c.stored[name] = true
	}
}

func (c *Controller) past(name string) past {
	c.mu.Lock()
	defer c.mu.Unlock()
	return past{stored: c.stored[name], kept: c.kept[name]}
}

// keep carries a pass out. After a conflict, the event of the other write causes another pass.
func (c *Controller) keep(ctx context.Context, name string) reconcile.Outcome {
	want := c.api.Local(name)
	err := c.pass(ctx, name, want)
	switch {
	case err == nil:
		if managed(want) == OnStart {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.kept[name] = true
		}
	case ctx.Err() != nil, apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err):
	default:
		c.log.Warn("failed to update an APIService", "name", name, "err", err)
		return reconcile.Outcome{Err: err}
	}
	return reconcile.Outcome{}
}

// pass does what one APIService needs now.
func (c *Controller) pass(ctx context.Context, name string, want *apiregistrationv1.APIService) error {
	s, err := c.api.Get(ctx, name)
	if err != nil {
		return err
	}
	switch decide(s, want, c.past(name)) {
	case Create:
		s, err = c.api.Create(ctx, want)
	case Update:
		next := s.DeepCopy()
		next.Spec = want.Spec
		s, err = c.api.Update(ctx, next)
	case Delete:
		return c.api.Delete(ctx, name, s.UID)
	}
	if err != nil || s == nil {
		return err
	}
	if s = s.DeepCopy(); setAvailable(&s.Status, c.api.Available(s), metav1.NewTime(c.now(ctx))) {
		return c.api.UpdateStatus(ctx, s)
	}
	return nil
}
