package daemonset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// pauses are the pauses before failed pods are deleted (daemon_controller.go: NewDaemonSetsController).
var pauses = reconcile.Backoff{Min: time.Second, Max: 15 * time.Minute}

// failures has the failures of a set's pods, by node.
type failures map[string]failure

// failure has the number of failed pods on a node, and the time at which the last of them was deleted.
type failure struct {
	times int
	last  time.Time
	of    state
}

// state is a set at one generation. Another set of the same name has another uid (daemon_controller.go:
// failedPodsBackoffKey).
type state struct {
	uid        types.UID
	generation int64
}

func stateOf(set *appsv1.DaemonSet) state { return state{set.UID, set.Status.ObservedGeneration} }

// until returns the time when the next failed pod on the node may be deleted. A new state starts without failures.
func (f failures) until(node string, of state) time.Time {
	if e := f[node]; e.times > 0 && e.of == of {
		return e.last.Add(pauses.After(e.times))
	}
	return time.Time{}
}

// add counts a failed pod that is deleted.
func (f failures) add(node string, of state, now time.Time) {
	e := f[node]
	if e.of != of {
		e.times = 0
	}
	f[node] = failure{e.times + 1, now, of}
}

// expire removes old failures (client-go util/flowcontrol: Backoff.hasExpired).
func (f failures) expire(now time.Time) {
	for node, e := range f {
		if now.Sub(e.last) > 2*pauses.Max {
			delete(f, node)
		}
	}
}
