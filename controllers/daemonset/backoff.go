package daemonset

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// pauses are the pauses before failed pods are deleted (daemon_controller.go: NewDaemonSetsController).
var pauses = workload.Backoff{Min: time.Second, Max: 15 * time.Minute}

// failures has the failure of each place. Only the pass over the set changes those of its places.
type failures struct{ sync.Map }

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

func (f *failures) of(at place) failure {
	v, _ := f.Load(at)
	e, _ := v.(failure)
	return e
}

// expire removes old failures (client-go util/flowcontrol: Backoff.hasExpired).
func (f *failures) expire(now time.Time) {
	f.Range(func(at, e any) bool {
		if now.Sub(e.(failure).last) > 2*pauses.Max {
			f.CompareAndDelete(at, e) // another pass may have replaced it
		}
		return true
	})
}
