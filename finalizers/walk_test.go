package finalizers

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestRandomWalks sends objects of every kind through sequences of deletes and updates. Every verdict is checked,
// arguments must not change, and every object must be removable in the end.
func TestRandomWalks(t *testing.T) {
	seed := seed.Of(t)
	for i := range uint64(20_000) {
		w := walk{rand: rand.New(rand.NewPCG(seed, i)), now: epoch}
		if err := w.run(); err != nil {
			t.Fatalf("seed %d, walk %d: %v\n%s", seed, i, err, strings.Join(w.log, "\n"))
		}
	}
}

type walk struct {
	rand *rand.Rand
	now  time.Time
	kind Kind
	obj  Object
	gone bool
	log  []string
}

func (w *walk) run() error {
	names := []string{"crd", "default", "default-orphan", "namespace", "pod", "unsupported"}
	name := names[w.rand.IntN(len(names))]
	w.kind = kinds[name]
	w.obj = Object{UID: "A", ResourceVersion: "1", Generation: int64(w.rand.IntN(3)), Finalizers: w.finalizers()}
	if w.kind.Graceful && w.chance(2) {
		w.kind.DefaultGraceSeconds = w.period()
	}
	w.kind.GraceForbidden = w.kind.Graceful && w.chance(4)
	if w.kind.Namespace {
		w.obj.SpecFinalizers = []string{"kubernetes"}
	}
	w.log = append(w.log, fmt.Sprintf("%s %+v %+v", name, w.kind, w.obj))
	for range 12 {
		w.now = w.now.Add(time.Duration(w.rand.IntN(20_000)) * time.Millisecond)
		step := w.delete
		if w.chance(3) {
			step = w.update
		}
		if err := step(); err != nil || w.gone {
			return err
		}
	}
	return w.finish()
}

func (w *walk) delete() error {
	o := Options{}
	if w.chance(2) {
		o.GracePeriodSeconds = w.period()
	}
	switch w.rand.IntN(3) {
	case 0:
		b := w.chance(2)
		o.OrphanDependents = &b
	case 1:
		o.PropagationPolicy = []string{"Orphan", "Foreground", "Background"}[w.rand.IntN(3)]
	}
	if w.chance(8) {
		rv := strconv.Itoa(w.rand.IntN(4))
		o.ResourceVersion = &rv
	}
	return w.deleteWith(o)
}

func (w *walk) deleteWith(o Options) error {
	before := w.obj
	before.Finalizers = slices.Clone(before.Finalizers)
	v := Delete(w.obj, w.kind, o, w.now)
	w.log = append(w.log, fmt.Sprintf("delete %+v at %v: %s", o, w.now.Sub(epoch), describe(v)))
	if !reflect.DeepEqual(before, w.obj) {
		return fmt.Errorf("the object was changed to %+v", w.obj)
	}
	if err := check(w.obj, w.kind, v, w.now); err != nil {
		return err
	}
	if err := checkRepeat(w.obj, w.kind, o, v, w.now); err != nil {
		return err
	}
	w.carryOut(v)
	return nil
}

func (w *walk) update() error {
	u := w.obj
	switch w.rand.IntN(4) {
	case 0:
		u.Finalizers = nil
	case 1:
		u.Finalizers = slices.DeleteFunc(slices.Clone(u.Finalizers), func(string) bool { return w.chance(2) })
	case 2:
		u.SpecFinalizers = nil
	case 3:
		u.Generation++
	}
	if w.obj.Deletion.IsZero() && w.chance(3) { // B-14
		u.Finalizers = w.finalizers()
	}
	return w.updateTo(u)
}

func (w *walk) updateTo(u Object) error {
	v := updateTo(w.obj, u)
	w.log = append(w.log, fmt.Sprintf("update to %+v: %s", u, describe(v)))
	if err := checkUpdate(w.obj, u, v); err != nil {
		return err
	}
	w.carryOut(v)
	w.obj.SpecFinalizers = u.SpecFinalizers
	return nil
}

// finish removes the object: a DELETE without a grace period, and then the removal of all finalizers.
func (w *walk) finish() error {
	zero := int64(0)
	for range 2 { // twice for kinds whose first DELETE only begins
		if err := w.deleteWith(Options{GracePeriodSeconds: &zero, PropagationPolicy: "Background"}); err != nil || w.gone {
			return err
		}
	}
	u := w.obj
	u.Finalizers, u.SpecFinalizers = nil, nil
	if err := w.updateTo(u); err != nil {
		return err
	}
	if !w.gone {
		return fmt.Errorf("nothing holds %+v, and it is still there", w.obj)
	}
	return nil
}

func (w *walk) carryOut(v Verdict) {
	w.gone = v.Step == Remove || v.Step == StoreThenRemove
	if v.Step == Store {
		w.obj = stored(w.obj, v)
	}
}

func (w *walk) chance(n int) bool { return w.rand.IntN(n) == 0 }

func (w *walk) period() *int64 {
	n := int64(w.rand.IntN(40) - 4)
	return &n
}

// finalizers returns finalizers of other components, and at most one of the collector's.
func (w *walk) finalizers() []string {
	var f []string
	for _, name := range []string{"a.io/x", "b.io/y"} {
		if w.chance(3) {
			f = append(f, name)
		}
	}
	if w.chance(2) {
		f = slices.Insert(f, w.rand.IntN(len(f)+1), []string{Orphan, Foreground}[w.rand.IntN(2)])
	}
	return f
}
