package controllers

import (
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Delays before a namespace is counted.
const (
	// quotaDebounce is the delay after a change, as many changes often come together.
	quotaDebounce = 20 * time.Millisecond
	// quotaSettle is the delay after a write to a quota, by which admission usually adds the usage of an object that is
	// about to be stored.
	quotaSettle = 250 * time.Millisecond
	// quotaMaxWait is the maximum delay of a count by such writes.
	quotaMaxWait = 2 * time.Second
	// quotaElsewhere is the delay of a count without a change here. Upstream counts again when an aggregated server
	// deletes an object, and every 5 minutes.
	quotaElsewhere = 10 * time.Second
)

// quotaDelay decides when a namespace with quotas is counted. A quota whose status doesn't have its spec yet is counted
// at once. Otherwise the namespace is counted after an object in it was deleted or changed, once its quotas have not
// been written for a short time, at the latest after quotaMaxWait. Without that pause, a count would remove the usage
// that admission has added for an object that isn't stored yet.
type quotaDelay struct {
	quotas map[string]bool
	// elsewhere is set if the quotas name resources that are not stored here, so that a count follows in any case.
	elsewhere bool
	// since is the time when a count was first requested, zero if none is; due is when it may begin.
	since, due time.Time
	// quiet is the end of the delay after the last write to a quota.
	quiet time.Time
}

// wrote records that a quota exists, or was written. unknown is set if its status doesn't have its spec yet.
func (d *quotaDelay) wrote(quota string, unknown bool, now time.Time) {
	d.quotas[quota] = true
	if unknown {
		d.request(now, now)
		return
	}
	d.quiet = now.Add(quotaSettle)
	d.request(now, d.quiet)
}

// changed records that an object was deleted, or changed so that it may use less.
func (d *quotaDelay) changed(now time.Time) {
	d.request(now, reconcile.Later(now.Add(quotaDebounce), d.quiet))
}

// failed records that a count has failed. After a conflict, the event of the other write may come before or after this
// call: the pause that it causes holds in both cases.
func (d *quotaDelay) failed(now time.Time) { d.changed(now) }

// request requests a count at due. A later request delays the count, up to quotaMaxWait; a request for now is not
// delayed.
func (d *quotaDelay) request(now, due time.Time) {
	first := d.since.IsZero()
	if first {
		d.since = now
	}
	switch most := d.since.Add(quotaMaxWait); {
	case due.After(most):
		due = reconcile.Later(most, now)
	case !first && !due.After(now): // at once
	case !first && d.due.Before(now):
		due = d.due // it was already requested for now
	}
	d.due = due
}

// wait returns the time until the namespace is counted, 0 for now; ok is false if no count is requested.
func (d *quotaDelay) wait(now time.Time) (wait time.Duration, ok bool) {
	return max(0, d.due.Sub(now)), !d.since.IsZero() || d.elsewhere
}

// begin records that the namespace is being counted.
func (d *quotaDelay) begin(now time.Time) { d.since, d.due = time.Time{}, now.Add(quotaElsewhere) }
