package conformance

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// get reads an object; it returns nil if the object is gone, or another one has its name.
func (t *T) get(o *Object) (*Object, *Answer, error) {
	a, err := t.client.do(t.ctx, http.MethodGet, o.Path(), "", nil)
	switch {
	case err != nil:
		return nil, nil, err
	case a.Code == http.StatusNotFound:
		return nil, a, nil
	case a.Code != http.StatusOK:
		t.skipUnsupported(a, http.MethodGet, o.Path())
		return nil, a, fmt.Errorf("the server responds %d: %s", a.Code, a.Message())
	}
	now := decode(o.Of, a)
	if o.GetUID() != "" && now.GetUID() != o.GetUID() {
		return nil, a, nil
	}
	return now, a, nil
}

// Await waits until an object meets all conditions at once, and returns it. It fails when the case's timeout expires.
// If the object is gone and an unmet condition does not allow that, it fails at once.
func (t *T) Await(o *Object, conditions ...Condition) (now *Object) {
	last, f := o, Failure{Expected: expected(o, conditions), Seen: "no response in time"}
	met := poll(t.ctx, func() bool {
		var a *Answer
		var err error
		if now, a, err = t.get(o); err != nil {
			if t.ctx.Err() == nil {
				f.Seen = err.Error()
			}
			return false
		}
		c := unmet(now, conditions)
		f.Seen, f.Request = now.state(), a.Curl
		switch {
		case now != nil:
			last = now
		case c != nil && !c.Gone:
			f.Seen, f.Object = f.Seen+"; the object is shown as it was last seen", last.YAML()
			t.fail(f)
		}
		return c == nil
	})
	if !met {
		f.Seen, f.Object = f.Seen+t.timeoutNote(), last.YAML()
		t.fail(f)
	}
	return now
}

// poll calls done with growing pauses until it is true. It returns false if ctx ends first.
func poll(ctx context.Context, done func() bool) bool {
	for pause := 10 * time.Millisecond; !done(); pause = min(pause*3/2, 500*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// AwaitAll waits for objects, one after the other.
func (t *T) AwaitAll(objects []*Object, conditions ...Condition) {
	for _, o := range objects {
		t.Await(o, conditions...)
	}
}

// Expect checks that an object meets the conditions now, without waiting, and returns it.
func (t *T) Expect(o *Object, conditions ...Condition) *Object {
	now, a, err := t.get(o)
	if err != nil {
		t.fail(Failure{Expected: expected(o, conditions), Seen: err.Error()})
	}
	if unmet(now, conditions) != nil {
		t.fail(Failure{Expected: expected(o, conditions), Seen: now.state(), Object: now.YAML(), Request: a.Curl})
	}
	return now
}

// ExpectAll calls Expect for each of the objects.
func (t *T) ExpectAll(objects []*Object, conditions ...Condition) {
	for _, o := range objects {
		t.Expect(o, conditions...)
	}
}

// Untouched checks that no client has written the objects since the case read them.
func (t *T) Untouched(objects ...*Object) {
	for _, o := range objects {
		t.Expect(o, Unchanged(o))
	}
}

// Answered checks the object in a response; a Status means that the object is gone.
func (t *T) Answered(a *Answer, o *Object, conditions ...Condition) *Object {
	var now *Object
	if a.Body["kind"] != "Status" {
		now = decode(o.Of, a)
	}
	if unmet(now, conditions) != nil {
		f := Failure{
			Expected: "in the response, " + expected(o, conditions), Seen: now.state(), Object: now.YAML(), Request: a.Curl,
		}
		if now == nil {
			f.Seen = "a Status: " + a.Text
		}
		t.fail(f)
	}
	return now
}

// Settle waits until the collector has seen all objects of these kinds (config maps by default) that the case has
// created or changed so far. Kubernetes' collector watches each kind separately. It does not orphan or wait for objects
// that it has not seen (J-08, J-09), so without Settle the result of a case would depend on timing. If the collector
// does not work, Settle returns at once.
func (t *T) Settle(kinds ...Kind) {
	if !t.idle {
		t.sentinel(kinds)
	}
}

// Pass waits until the collector has processed the latest change of an object of these kinds (config maps by default).
// It creates sentinels after the change: they follow the change in the kind's events and in the collector's queue. So
// objects that still exist when the sentinels are gone are kept by the collector's decision, not because it is slow.
// There are two rounds of sentinels, because the collector has several workers.
func (t *T) Pass(kinds ...Kind) {
	t.sentinel(kinds)
	t.sentinel(kinds)
}

// sentinel creates an object of each kind whose owner never existed, and waits until the collector has deleted them.
func (t *T) sentinel(kinds []Kind) {
	if len(kinds) == 0 {
		kinds = []Kind{ConfigMap}
	}
	var made []*Object
	for _, k := range kinds {
		owner := ConfigMap
		if k.ClusterScoped {
			owner = ClusterRole
		}
		t.sentinels++
		made = append(made, t.Make(k, fmt.Sprintf("sentinel-%d", t.sentinels), Refs(Absent(owner))))
	}
	gone := Gone
	gone.Text += " because its owner never existed (this shows that the collector has seen all earlier events)"
	t.AwaitAll(made, gone)
}

// Until repeats a check until it succeeds; seen describes the present state.
func (t *T) Until(expected string, ask func() (met bool, seen string)) {
	var seen string
	if !poll(t.ctx, func() (met bool) { met, seen = ask(); return met }) {
		t.fail(Failure{Expected: expected, Seen: seen + t.timeoutNote()})
	}
}
