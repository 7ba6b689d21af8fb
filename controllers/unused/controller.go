package unused

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
	// References are those of a pod.
	References []Reference
}

// workers is the maximum number of concurrent passes.
const workers = 4

// backoff is the pause before a failed pass is retried (client-go util/workqueue: DefaultTypedControllerRateLimiter).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 1000 * time.Second}

// Run maintains the condition until ctx is done, and returns when all its goroutines have.
func Run(ctx context.Context, api API, log *slog.Logger) {
	p := pass{api, log}
	loop := reconcile.Loop[Event, job, reconcile.Outcome]{
		Schedule: newSchedule(), Workers: workers, Follow: api.Follow, Pass: p.run, About: about, Log: log,
		What: "claims and their pods",
	}
	loop.Run(ctx)
}

// job is the subject of a pass: a claim, and who used it when the pass began.
type job struct {
	claim Key
	users users
}

func about(j job) reconcile.Object {
	return reconcile.Object{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim",
		Namespace: j.claim.Namespace, Name: j.claim.Name}
}

// schedule is a reconcile.Schedule: passes over the claims that changed, or whose users did.
type schedule struct {
	keys  *reconcile.Keys[Key]
	index *index
	// complete says that the index has all pods. No pass begins before.
	complete bool
}

func newSchedule() *schedule {
	return &schedule{keys: reconcile.NewKeys(backoff, Key.compare), index: newIndex()}
}

// Observe implements reconcile.Schedule.
func (s *schedule) Observe(e Event, now time.Time) {
	switch e.Type {
	case Began:
		s.index, s.complete = newIndex(), false
	case Pod:
		for _, key := range s.index.set(e.Key, e.References) {
			s.keys.Observe(key, now)
		}
	case Complete:
		s.complete = true
	case Claim:
		s.keys.Observe(e.Key, now)
	}
}

// Begin implements reconcile.Schedule.
func (s *schedule) Begin(now time.Time) (j job, ok bool) {
	if !s.complete {
		return j, false
	}
	j.claim, ok = s.keys.Begin(now)
	if ok {
		j.users = s.index.users(j.claim)
	}
	return j, ok
}

// Wait implements reconcile.Schedule.
func (s *schedule) Wait(now time.Time) (time.Duration, bool) {
	if !s.complete {
		return 0, false
	}
	return s.keys.Wait(now)
}

// End implements reconcile.Schedule.
func (s *schedule) End(j job, o reconcile.Outcome, now time.Time) { s.keys.End(j.claim, o, now) }

// Waits implements reconcile.Schedule.
func (s *schedule) Waits(most int) (due []reconcile.Due[job], more int) {
	keys, more := s.keys.Waits(most)
	for _, k := range keys {
		due = append(due, reconcile.Due[job]{Job: job{claim: k.Job}, At: k.At, Why: k.Why, Err: k.Err})
	}
	return due, more
}

// pass makes the requests of a pass.
type pass struct {
	api API
	log *slog.Logger
}

func (p pass) run(ctx context.Context, j job) reconcile.Outcome {
	err := p.settle(ctx, j)
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return reconcile.Outcome{}
	case ctx.Err() == nil && !apierrors.IsConflict(err):
		p.log.Warn("failed to update the condition Unused of a claim",
			"namespace", j.claim.Namespace, "name", j.claim.Name, "err", err)
	}
	return reconcile.Outcome{Err: err}
}

func (p pass) settle(ctx context.Context, j job) error {
	c, err := p.api.Get(ctx, j.claim)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	next := updated(c, j.users, reconcile.Now(ctx))
	if next == nil {
		return nil
	}
	if err := p.api.UpdateStatus(ctx, next); err != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	return nil
}
