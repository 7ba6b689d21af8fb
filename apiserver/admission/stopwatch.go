package admission

import "time"

// Each observes how long the plugins of a chain take, by their place in it (AS pkg/admission/metrics:
// WithControllerMetrics).
type Each interface {
	// Observes reports whether the plugin is observed for an operation.
	Observes(place int, o Operation) bool
	// Observe observes one run of an observed plugin.
	Observe(place int, s Step, o Operation, rejected bool, took time.Duration)
}

// stopwatch takes the times of one pass over a chain. The end of a plugin is the beginning of the next one, so the
// clock is read once for each observed plugin.
type stopwatch struct {
	each      Each
	step      Step
	operation Operation
	// place is the plugin that runs, -1 if it is not observed.
	place int
	// since is the end of the last plugin, 0 if that is not known.
	since time.Duration
}

// epoch is what the times of stopwatches count from: time.Since reads one clock, time.Now two.
var epoch = time.Now()

func (w *stopwatch) start(place int) {
	if w.each == nil || !w.each.Observes(place, w.operation) {
		w.place, w.since = -1, 0
		return
	}
	if w.place = place; w.since == 0 {
		w.since = time.Since(epoch)
	}
}

func (w *stopwatch) stop(err error) {
	if w.place < 0 {
		return
	}
	now := time.Since(epoch)
	w.each.Observe(w.place, w.step, w.operation, err != nil, now-w.since)
	w.since = now
}
