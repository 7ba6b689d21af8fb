package finalizers

import "time"

// grace is the effect of a DELETE on an object's grace period.
type grace struct {
	mode graceMode
	// deletionTime and period are the values to store, if mode is graceful.
	deletionTime time.Time
	period       int64
}

type graceMode uint8

const (
	// immediate: there is no grace period, so only finalizers delay the removal.
	immediate graceMode = iota
	// graceful: the request begins or shortens a grace period.
	graceful
	// pending: the request does not shorten the grace period, which has begun.
	pending
)

// decideGrace applies C-30 to C-35.
func decideGrace(obj Object, k Kind, o Options, now time.Time) grace {
	if !k.Graceful { // C-31
		return grace{mode: immediate}
	}
	if obj.Deletion.IsZero() { // C-32
		period := firstPeriod(k, o)
		return grace{mode: graceful, deletionTime: whole(now.Add(seconds(period))), period: period}
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

// shorten shortens a grace period that has begun (C-34).
func shorten(deletion time.Time, current, period int64, now time.Time) grace {
	at := deletion.Add(-seconds(current)).Add(seconds(period))
	if at.Before(now) {
		at = now
		if period != 0 {
			// The object stays until the program that ends it, such as a kubelet, sends a delete with a period of 0.
			period = 1
		}
	}
	return grace{mode: graceful, deletionTime: whole(at), period: period}
}

// firstPeriod returns the grace period in seconds that the first DELETE begins (C-30).
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

// seconds returns a period as a duration of at most 292 years: with a longer one a deletionTimestamp would overflow.
func seconds(period int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(period, most)) * time.Second
}

// whole returns a time in whole seconds, as metadata has it.
func whole(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
