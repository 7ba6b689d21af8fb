package flowcontrol

import (
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Live applies the objects in a cache to a Controller.
type Live struct {
	controller *Controller
	cache      *cache.Cache
	log        *slog.Logger
	// complaint limits the rate of error messages in the log.
	complaint rate.Sometimes
	// shown is the revision of the controller's objects.
	shown atomic.Int64
	// mu guards the watchers. It is held while the objects are read.
	mu       sync.Mutex
	watchers []*cache.Watcher
}

// schemas and levels are the names of the collections.
const schemas, levels = "flowschemas", "prioritylevelconfigurations"

// NewLive returns a Live that applies the objects of a cache to the controller.
func NewLive(c *Controller, from *cache.Cache, log *slog.Logger) *Live {
	return &Live{controller: c, cache: from, log: log, complaint: rate.Sometimes{Interval: time.Minute}}
}

// CatchUp applies the current objects of the cache. It is cheap while they don't change.
func (l *Live) CatchUp() {
	now := l.cache.Revision()
	if l.shown.Load() >= now {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown.Load() >= now {
		return
	}
	if l.changed() {
		rev, err := l.load()
		if err != nil {
			l.complaint.Do(func() { l.log.Error("failed to read flow schemas and priority levels", "err", err) })
			return
		}
		now = rev
	}
	l.shown.Store(now)
}

// changed reports whether an object has changed, or may have changed.
func (l *Live) changed() bool {
	changed := l.watchers == nil
	for _, w := range l.watchers {
		for {
			events, _, err := w.Poll()
			changed = changed || err != nil || len(events) > 0
			if err != nil || len(events) == 0 {
				break
			}
		}
	}
	return changed
}

// load reads all objects at one revision, and watches from there.
func (l *Live) load() (int64, error) {
	rev := l.cache.Revision()
	l.watchers = nil
	s, err := read[flowcontrolv1.FlowSchema](l, schemas, rev)
	if err != nil {
		return 0, err
	}
	p, err := read[flowcontrolv1.PriorityLevelConfiguration](l, levels, rev)
	if err != nil {
		return 0, err
	}
	var watchers []*cache.Watcher
	for _, collection := range []string{schemas, levels} {
		w, err := l.cache.Watch(collection, rev)
		if err != nil {
			return 0, err
		}
		watchers = append(watchers, w)
	}
	l.watchers = watchers
	l.controller.Set(s, p)
	return rev, nil
}

// read decodes a collection. It skips objects that can't be decoded.
func read[T any](l *Live, collection string, rev int64) (all []*T, err error) {
	snapshot, err := l.cache.Snapshot(collection, rev)
	if err != nil {
		return nil, err
	}
	snapshot.Ascend("", "", func(o *storage.Object) bool {
		v := new(T)
		err := o.Err
		if err == nil {
			err = json.Unmarshal(o.JSON, v)
		}
		if err != nil {
			l.log.Warn("an object of API Priority and Fairness can't be decoded and has no effect",
				"key", o.Key, "err", err)
			return true
		}
		all = append(all, v)
		return true
	})
	return all, nil
}
