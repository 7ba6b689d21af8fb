package chaos

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

func (w *world) checkHistory() {
	w.t.Helper()
	w.compareState()
	found := check.Check(&w.h)
	for _, e := range w.exits {
		w.t.Errorf("a server ended by itself: %s", e)
	}
	w.report(len(found))
	for _, v := range found[:min(len(found), 10)] {
		w.t.Error(v)
	}
	if len(found) > 10 {
		w.t.Errorf("and %d more violations", len(found)-10)
	}
}

// logRepeat logs the command that repeats a failed test, and the faults that were injected.
func (w *world) logRepeat() {
	if !w.t.Failed() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Logf("again: make chaos SEED=%d DURATION=%v; faults:\n%s", *seed, *duration, strings.Join(w.faults, "\n"))
}

// report logs statistics of the run.
func (w *world) report(violations int) {
	outcomes := map[check.Outcome]int{}
	for _, o := range w.h.Writes {
		outcomes[o.Outcome]++
	}
	modes := map[check.Mode]int{}
	for _, r := range w.h.Reads {
		modes[r.Mode]++
	}
	steps := map[check.StepKind]int{}
	for _, c := range w.h.Watchers {
		for _, s := range c.Steps {
			steps[s.Kind]++
		}
	}
	w.t.Logf("seed %d, %v: etcd has %d events; writes %v; reads %v; watchers received %v; %d violations",
		*seed, w.now().Round(time.Second), len(w.h.Events), outcomes, modes, steps, violations)
	for _, verb := range slices.Sorted(maps.Keys(w.answers)) {
		w.t.Logf("responses to %s by status: %v", verb, w.answers[verb])
	}
	w.t.Logf("all served again after %v at most, after %s", w.recovery.Round(time.Millisecond), w.slowest)
	for _, name := range slices.Sorted(maps.Keys(w.count)) {
		w.t.Logf("%4d x %s", w.count[name], name)
	}
}
