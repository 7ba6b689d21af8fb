package daemonset

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// pauses are the pauses before failed pods are deleted (daemon_controller.go: NewDaemonSetsController).
var pauses = reconcile.Backoff{Min: time.Second, Max: 15 * time.Minute}

// failures has the failed pods of all sets. Its methods may be called from any goroutine.
type failures struct {
	mu sync.Mutex // guards the field below
	at map[place]failure
}

// place is a node and the state of a set, which is a generation of one uid. A new state starts without failures
// (daemon_controller.go: failedPodsBackoffKey).
type place struct {
	node       string
	uid        types.UID
	generation int64
}

// failure has the number of failed pods at a place, and the time at which the last of them was deleted.
type failure struct {
	times int
	last  time.Time
}

// until returns the time when the next failed pod may be deleted.
func (f *failures) until(at place) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.at[at]; e.times > 0 {
		return e.last.Add(pauses.After(e.times))
	}
	return time.Time{}
}

// add counts a failed pod that is deleted.
func (f *failures) add(at place, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[at] = failure{f.at[at].times + 1, now}
}

// expire removes old failures (client-go util/flowcontrol: Backoff.hasExpired).
func (f *failures) expire(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.at, func(_ place, e failure) bool { return now.Sub(e.last) > 2*pauses.Max })
}
