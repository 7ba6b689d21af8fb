package reconcile

import "time"

// Backoff is a pause that doubles with each failure.
type Backoff struct{ Min, Max time.Duration }

// After returns the pause after a number of failures in a row; 0 counts as 1.
func (b Backoff) After(failures int) time.Duration {
	d := b.Min
	for range failures - 1 {
		if d >= b.Max {
			break
		}
		d *= 2
	}
	return min(d, b.Max)
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
