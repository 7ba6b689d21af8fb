package cronjob

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// errNever is the error for a schedule without times, such as 31 February.
var errNever = errors.New("time difference between two schedules is less than 1 second")

// errZone is the error for a time zone without a schedule after it.
var errZone = errors.New("expected exactly 5 fields, found 0: []")

// parse parses the schedule. Without a time zone it uses this process's, as upstream uses kube-controller-manager's
// (cronjob_controllerv2.go: formatSchedule).
func parse(c *batchv1.CronJob) (s cron.Schedule, err error) {
	defer func() {
		if recover() != nil { // the parser panics on a zone that no blank follows
			s, err = nil, errZone
		}
	}()
	text := c.Spec.Schedule
	if c.Spec.TimeZone != nil && !strings.Contains(text, "TZ") {
		text = fmt.Sprintf("TZ=%s %s", *c.Spec.TimeZone, text)
	}
	return cron.ParseStandard(text)
}

// most is the number of times that may be missed without a warning.
const most = 100

// times are the relevant times of a schedule.
type times struct {
	// last is the newest time that isn't in the future; zero if there is none.
	last time.Time
	// many reports whether more than most were missed.
	many bool
}

// since returns the times after a moment (utils.go: mostRecentScheduleTime). Upstream estimates it from the distance of
// two times; since also finds the last time of an irregular schedule.
func since(s cron.Schedule, from, now time.Time) (times, error) {
	t1 := s.Next(from)
	t2 := s.Next(t1)
	switch {
	case now.Before(t1):
		return times{}, nil
	case t1.IsZero() || t2.Sub(t1).Round(time.Second) < time.Second:
		return times{}, errNever
	case now.Before(t2):
		return times{last: t1}, nil
	}
	return times{last: newest(s, from, now), many: now.Sub(t1)/t2.Sub(t1)+1 > most}, nil
}

// newest returns the last time that isn't after now. The caller knows that there is one after from.
func newest(s cron.Schedule, from, now time.Time) (last time.Time) {
	start := from
	if every, ok := s.(cron.ConstantDelaySchedule); ok {
		// These times are counted from the start, so only whole delays can be skipped.
		if n := now.Sub(from)/every.Delay - 1; n > 0 {
			start = s.Next(from).Add((n - 1) * every.Delay)
		}
	} else {
		for back := time.Minute; now.Sub(from) > back; back *= 2 {
			if !s.Next(now.Add(-back)).After(now) {
				start = now.Add(-back)
				break
			}
		}
	}
	for t := s.Next(start); !t.After(now); t = s.Next(t) {
		last = t
	}
	return last
}

// delta is the delay of a pass after a scheduled time (cronjob_controllerv2.go: nextScheduleDelta).
const delta = 100 * time.Millisecond

// next returns the time of the next pass: shortly after the next scheduled time. A schedule of delays continues from
// the last of its times, so that changes of the CronJob don't shift it.
func next(s cron.Schedule, from, now time.Time) time.Time {
	if t, err := since(s, from, now); err != nil {
		from = now
	} else if !t.last.IsZero() {
		from = t.last
	}
	return s.Next(from).Add(delta)
}

// handled returns the time up to which the status records all times as handled.
func handled(c *batchv1.CronJob, s *batchv1.CronJobStatus) time.Time {
	if t := s.LastScheduleTime; t != nil {
		return t.Time
	}
	return c.CreationTimestamp.Time
}

// begin returns the moment after which times count: earlier ones were handled, or are too old.
func begin(c *batchv1.CronJob, from, now time.Time) time.Time {
	if d := c.Spec.StartingDeadlineSeconds; d != nil {
		if oldest := now.Add(-seconds(*d)); oldest.After(from) {
			return oldest
		}
	}
	return from
}

// seconds returns a duration; numbers that are too large for one are limited.
func seconds(n int64) time.Duration { return time.Duration(min(n, 1e9)) * time.Second }
