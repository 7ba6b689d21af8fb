package flowcontrol

import (
	"encoding/json"
	"log/slog"
	"time"

	"golang.org/x/time/rate"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/follower"
)

// Live applies the objects in a cache to a Controller.
type Live struct {
	controller *Controller
	follower   *follower.Follower
	log        *slog.Logger
	// complaint limits the rate of error messages in the log.
	complaint rate.Sometimes
}

// NewLive returns a Live that applies the objects of a cache to the controller.
func NewLive(c *Controller, from *cache.Cache, log *slog.Logger) *Live {
	return &Live{controller: c, follower: follower.New(from, "flowschemas", "prioritylevelconfigurations"), log: log,
		complaint: rate.Sometimes{Interval: time.Minute}}
}

// CatchUp applies the current objects of the cache. It is cheap while they don't change.
func (l *Live) CatchUp() {
	err := l.follower.CatchUp(func(int, []*cache.Event) bool { return false }, func(of []*cache.Snapshot) error {
		l.controller.Set(read[flowcontrolv1.FlowSchema](l, of[0]), read[flowcontrolv1.PriorityLevelConfiguration](l, of[1]))
		return nil
	})
	if err != nil {
		l.complaint.Do(func() { l.log.Error("failed to read flow schemas and priority levels", "err", err) })
	}
}

// read decodes a collection. It skips objects that can't be decoded.
func read[T any](l *Live, snapshot *cache.Snapshot) (all []*T) {
	for o := range snapshot.Ascend("", "") {
		v := new(T)
		err := o.Err
		if err == nil {
			err = json.Unmarshal(o.JSON, v)
		}
		if err != nil {
			l.log.Warn("an object of API Priority and Fairness can't be decoded and has no effect",
				"key", o.Key, "err", err)
			continue
		}
		all = append(all, v)
	}
	return all
}
