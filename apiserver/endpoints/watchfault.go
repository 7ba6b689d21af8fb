package endpoints

import (
	"errors"
	"slices"
	"strconv"
	"time"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// watchFault is the injected fault of a watch. A watch that is open when a plan is added meets its rules then. The
// newest effect replaces earlier ones.
type watchFault struct {
	// shot is nil if there is no effect.
	shot *faults.Shot
	// decided is the number of the newest plan that the watch has met.
	decided int
	// changed is closed when a plan is added or removed, timer sends when the time of the effect is over.
	changed <-chan struct{}
	timer   <-chan time.Time
	until   time.Time
	// left is the number of events before the end of the watch, if it is positive.
	left int
	// merge is set if the next events were held, and only the newest state of each object is to be sent.
	merge bool
}

// errEnded ends a watch.
var errEnded = errors.New("an injected fault ends the watch")

// meet decides which fault the watch meets. It reports whether its events are held. An error ends the watch.
func (w *watch) meet() (held bool, err error) {
	f := &w.fault
	if changed := w.api.Faults.Changed(); changed != f.changed {
		f.changed = changed
		w.decide()
	}
	if f.shot == nil {
		return false, nil
	}
	over, removed, e := !f.until.IsZero() && !time.Now().Before(f.until), false, f.shot.Effect
	select {
	case <-f.shot.Removed:
		removed = true
	default:
	}
	switch {
	case removed:
	case (e.HoldEvents || e.SkipEvents) && !over:
		return true, w.out.flush()
	case (e.EndWatch || e.ExpireWatch) && (over || e.Events == 0 && e.Duration == 0):
		return false, w.cut()
	case e.EndWatch || e.ExpireWatch:
		return false, nil
	}
	*f = watchFault{decided: f.decided, changed: f.changed, merge: f.merge}
	return false, nil
}

// decide takes the fault of the newest of the new plans, or else the one that the request has met.
func (w *watch) decide() {
	f, shot := &w.fault, w.req.shot
	merge := f.merge || shot != nil && shot.SkipEvents
	f.decided, w.req.shot = max(f.decided, w.req.decided), nil
	for !w.api.Faults.Idle() {
		q := w.req.faulty()
		q.Open, q.After = true, f.decided
		var later *faults.Shot
		if later, f.decided = w.api.decide(&w.req.Request, q); later == nil {
			break
		}
		shot, merge = later, merge || later.SkipEvents
	}
	if shot == nil {
		return
	}
	*f = watchFault{shot: shot, decided: f.decided, changed: f.changed, left: shot.Events, merge: merge}
	if d := time.Duration(shot.Duration); d > 0 {
		f.until, f.timer = time.Now().Add(d), time.After(d)
	}
}

// counted counts a sent event. An error ends the watch.
func (w *watch) counted() error {
	if w.fault.left--; w.fault.left != 0 { // negative if there is no end
		return nil
	}
	return w.cut()
}

// cut ends the watch, with the error that it fell behind if it is to expire.
func (w *watch) cut() error {
	if w.fault.shot.ExpireWatch {
		w.fail(&cache.ExpiredError{Revision: w.rev, Oldest: w.api.Registry.Cache.Revision()})
	}
	return errEnded
}

// poll returns the next events. After events were held to be skipped, these are the changes between the state that the
// client has and the newest.
func (w *watch) poll(watcher *cache.Watcher) (events []*cache.Event, rev int64, err error) {
	events, rev, err = watcher.Poll()
	if !w.fault.merge {
		return events, rev, err
	}
	w.fault.merge, w.keys = false, nil // other watches do not send these events
	all := slices.Clone(events)
	for len(events) > 0 && err == nil {
		events, rev, err = watcher.Poll()
		all = append(all, events...)
	}
	if err == nil {
		events, err = w.merged(all)
	}
	return events, rev, err
}

// merged returns one event for each object, from the state that the client has to the newest, or else to the last one
// that the watch selects. An object that was deleted and created again has two: informers distinguish objects by that.
func (w *watch) merged(events []*cache.Event) (out []*cache.Event, err error) {
	last, had := map[string]int{}, map[string]bool{}
	for _, e := range events {
		before, now, err := w.selects(e)
		clear(w.rendering.Views)
		if err != nil {
			return nil, err
		}
		if !before && !now {
			continue
		}
		key := e.Object.Key
		if i, ok := last[key]; ok && e.Type != cache.Added {
			before = had[key]
			if one := *e; now {
				one.Prev, e = out[i].Prev, &one
			}
			out[i] = nil
		}
		if delete(last, key); before || now {
			had[key], last[key], out = before, len(out), append(out, e)
		}
	}
	return slices.DeleteFunc(out, func(e *cache.Event) bool { return e == nil }), nil
}

// stale returns the revision at which a read begins because of a fault, or 0. It is in the cache's history.
func (req *request) stale() int64 {
	if req.shot == nil || !req.shot.StaleReads {
		return 0
	}
	var short *cache.ExpiredError
	if _, err := req.api.Registry.Cache.Snapshot(req.Resource.Collection, req.shot.Revision); errors.As(err, &short) {
		return short.Oldest
	}
	return req.shot.Revision
}

// listStale changes the options of a list so that it reads the revision of a fault.
func (req *request) listStale(opts *metainternal.ListOptions) {
	if rev := req.stale(); rev > 0 {
		opts.ResourceVersion, opts.Limit = strconv.FormatInt(rev, 10), 0
		opts.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	}
}
