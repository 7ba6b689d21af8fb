package unused

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// API is the controller's interface to an API server. Its methods may be called from any goroutine. These errors of
// k8s.io/apimachinery/pkg/api/errors have a meaning: NotFound, Conflict.
type API interface {
	// Follow calls sink, from one goroutine, with an event of type Began, one for every pod with References, one of type
	// Complete, one for every Eligible claim, and then with the changes of these, until ctx is done. It may start again
	// from the beginning. It returns early, with an error, if it can't continue; it is then called again.
	Follow(ctx context.Context, sink func(Event)) error
	// Get returns the stored claim, at least as new as every event that was sent before.
	Get(ctx context.Context, key Key) (*corev1.PersistentVolumeClaim, error)
	// UpdateStatus writes the status of the claim; Conflict if its resourceVersion is stale.
	UpdateStatus(ctx context.Context, c *corev1.PersistentVolumeClaim) error
}

// EventType is the type of an event.
type EventType uint8

// The types of events.
const (
	// Began: what was known of pods is void.
	Began EventType = iota
	// Pod: the references of a pod are those of the event; none if it was deleted.
	Pod
	// Complete: all pods were sent since Began.
	Complete
	// Claim: an Eligible claim was created or changed.
	Claim
)

// Event is a change, or a part of the state at the beginning.
type Event struct {
	Type EventType
	// Key is that of a pod or a claim.
	Key Key
	// UID and References are those of a pod.
	UID        types.UID
	References []Reference
}

// workers is the maximum number of concurrent passes.
const workers = 4

// backoff is the pause before a failed pass is retried (client-go util/workqueue: DefaultTypedControllerRateLimiter).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 1000 * time.Second}

// Run maintains the condition until ctx is done, and returns when all its goroutines have.
func Run(ctx context.Context, api API, log *slog.Logger) {
	c := &controller{api: api, log: log}
	loop := reconcile.Loop[Key, Key, reconcile.Outcome]{
		Schedule: reconcile.NewKeys(backoff, Key.compare), Workers: workers, Follow: c.follow, Pass: c.pass, About: about,
		Log: log, What: "claims and their pods",
	}
	loop.Run(ctx)
}

func about(claim Key) reconcile.Object {
	return reconcile.Object{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim",
		Namespace: claim.Namespace, Name: claim.Name}
}

// controller is a call of Run.
type controller struct {
	api API
	log *slog.Logger
	// next is an index that doesn't have all pods yet; nil if there is none. It belongs to follow.
	next *index

	mu sync.Mutex // guards index
	// index has all pods as of the last event; nil before any claim had an event.
	index *index
}

// follow keeps the index, and sends the claims that need a pass: those that changed, or whose users may have.
func (c *controller) follow(ctx context.Context, sink func(Key)) error {
	return c.api.Follow(ctx, func(e Event) {
		for _, claim := range c.observe(e) {
			sink(claim)
		}
	})
}

// observe returns the claims that need a pass after an event. After Complete all claims follow.
func (c *controller) observe(e Event) []Key {
	switch {
	case e.Type == Claim:
		return []Key{e.Key}
	case e.Type == Began:
		c.next = newIndex()
		return nil
	case e.Type == Pod && c.next != nil:
		c.next.set(e.Key, e.UID, e.References)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Type == Complete {
		c.index, c.next = c.next, nil
		return nil
	}
	return c.index.set(e.Key, e.UID, e.References)
}

// users returns the users of a claim.
func (c *controller) users(claim Key) users {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.index.users(claim)
}

// pass settles one claim.
func (c *controller) pass(ctx context.Context, claim Key) reconcile.Outcome {
	err := c.settle(ctx, claim)
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return reconcile.Outcome{}
	case ctx.Err() == nil && !apierrors.IsConflict(err):
		c.log.Warn("failed to update the condition Unused of a claim",
			"namespace", claim.Namespace, "name", claim.Name, "err", err)
	}
	return reconcile.Outcome{Err: err}
}

func (c *controller) settle(ctx context.Context, claim Key) error {
	stored, err := c.api.Get(ctx, claim)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	next := updated(stored, c.users(claim), reconcile.Now(ctx))
	if next == nil {
		return nil
	}
	if err := c.api.UpdateStatus(ctx, next); err != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	return nil
}
