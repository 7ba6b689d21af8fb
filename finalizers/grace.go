package finalizers

import "time"

// grace is the effect of a DELETE on an object's grace period.
type grace struct {
	mode graceMode
	// deletion and period are the values to store, if mode is graceful.
	deletion time.Time
	period   int64
}

type graceMode uint8

const (
	// immediate: the kind or the object has no grace period, so that only finalizers can keep it.
	immediate graceMode = iota
	// graceful: a period begins or is shortened.
	graceful
	// pending: a period is running and this request does not shorten it.
	pending
)

// decideGrace applies C-30 to C-35.
func decideGrace(obj Object, k Kind, o Options, now time.Time) grace {
	if !k.Graceful { // C-31
		return grace{mode: immediate}
	}
	if obj.Deletion.IsZero() { // C-32
		period := firstPeriod(k, o)
		return grace{mode: graceful, deletion: whole(now.Add(seconds(period))), period: period}
	}
	if obj.GracePeriodSeconds == nil || *obj.GracePeriodSeconds == 0 { // C-35
		return grace{mode: immediate}
	}
	current := noNegative(*obj.GracePeriodSeconds)
	if o.GracePeriodSeconds == nil { // C-33
		return grace{mode: pending}
	}
	period := noNegative(*o.GracePeriodSeconds)
	if period >= current { // C-33
		return grace{mode: pending}
	}
	return shorten(obj.Deletion, current, period, now)
}

// shorten shortens a running period (C-34).
func shorten(deletion time.Time, current, period int64, now time.Time) grace {
	at := deletion.Add(-seconds(current)).Add(seconds(period))
	if at.Before(now) {
		at = now
		if period != 0 {
			// The program that ends the object (a kubelet) must still have time to do so: the object isn't removed
			// before the delete with a period of 0.
			period = 1
		}
	}
	return grace{mode: graceful, deletion: whole(at), period: period}
}

// firstPeriod is the grace period in seconds of a first DELETE (C-30).
func firstPeriod(k Kind, o Options) int64 {
	switch {
	case k.GraceForbidden:
		return 0
	case o.GracePeriodSeconds != nil:
		return noNegative(*o.GracePeriodSeconds)
	case k.DefaultGraceSeconds != nil:
		return noNegative(*k.DefaultGraceSeconds)
	}
	return 0
}

// noNegative replaces negative periods by 1 (C-30).
func noNegative(period int64) int64 {
	if period < 0 {
		return 1
	}
	return period
}

// seconds is a period as a duration. Periods beyond 292 years count as 292 years, as a timestamp must not wrap around
// into the past.
func seconds(period int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(period, most)) * time.Second
}

// whole is a time with the precision of metadata.
func whole(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
