package daemonset

import (
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// pauses are the pauses before failed pods are deleted (daemon_controller.go: NewDaemonSetsController).
var pauses = reconcile.Backoff{Min: time.Second, Max: 15 * time.Minute}

// failures are the failures of a set's pods, by node.
type failures map[string]failure

// failure is how often pods on a node have failed, and when the last of them was deleted.
type failure struct {
	times      int
	last       time.Time
	generation int64
}

// until is when the next failed pod on the node may be deleted. A new generation starts without failures.
func (f failures) until(node string, generation int64) time.Time {
	if e := f[node]; e.times > 0 && e.generation == generation {
		return e.last.Add(pauses.After(e.times))
	}
	return time.Time{}
}

// add counts a failed pod that is deleted.
func (f failures) add(node string, generation int64, now time.Time) {
	e := f[node]
	if e.generation != generation {
		e.times = 0
	}
	f[node] = failure{e.times + 1, now, generation}
}

// expire removes old failures (client-go util/flowcontrol: Backoff.hasExpired).
func (f failures) expire(now time.Time) {
	for node, e := range f {
		if now.Sub(e.last) > 2*pauses.Max {
			delete(f, node)
		}
	}
}
