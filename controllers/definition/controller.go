package definition

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The pauses after failures: the first, and the longest.
const (
	minBackoff = 10 * time.Millisecond
	maxBackoff = time.Minute
)

// Controller keeps the status of definitions.
type Controller struct {
	api API
	log *slog.Logger
	now func() metav1.Time
}

// New returns a controller that is not running; log may be nil.
func New(api API, log *slog.Logger) *Controller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Controller{api: api, log: log, now: metav1.Now}
}

// Run works until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	names := make(chan string, 256)
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { c.follow(ctx, names) })
	c.loop(ctx, names)
}

// follow keeps following, with a pause that grows while it fails.
func (c *Controller) follow(ctx context.Context, names chan<- string) {
	pause := minBackoff
	for {
		err := c.api.Follow(ctx, func(name string) {
			pause = minBackoff
			select {
			case names <- name:
			case <-ctx.Done():
			}
		})
		if ctx.Err() != nil {
			return
		}
		c.log.Warn("following definitions", "err", err)
		select {
		case <-time.After(pause):
			pause = min(2*pause, maxBackoff)
		case <-ctx.Done():
			return
		}
	}
}

// retry is a definition whose last pass failed.
type retry struct {
	at    time.Time
	pause time.Duration
}

// loop makes passes one after the other. What comes in while one is made is looked at once.
func (c *Controller) loop(ctx context.Context, names <-chan string) {
	due, failed := map[string]bool{}, map[string]retry{}
	for {
		name, wait := next(due, failed, time.Now())
		if name == "" {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case n := <-names:
				due[n] = true
			case <-timer.C:
			}
			timer.Stop()
			continue
		}
		for more := true; more; {
			select {
			case n := <-names:
				due[n] = true
			default:
				more = false
			}
		}
		delete(due, name)
		err := c.pass(ctx, name)
		if ctx.Err() != nil {
			return
		}
		// A conflict is followed by the event of whoever came first.
		if err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			delete(failed, name)
			continue
		}
		c.log.Warn("keeping a definition", "name", name, "err", err)
		pause := min(max(2*failed[name].pause, minBackoff), maxBackoff)
		failed[name] = retry{time.Now().Add(pause), pause}
	}
}

// next returns a definition to look at, or how long there is none.
func next(due map[string]bool, failed map[string]retry, now time.Time) (string, time.Duration) {
	for name := range due {
		return name, 0
	}
	wait := time.Hour
	for name, r := range failed {
		if d := r.at.Sub(now); d <= 0 {
			return name, 0
		} else if d < wait {
			wait = d
		}
	}
	return "", wait
}
