package conformance

import (
	"fmt"
	"net/http"
	"time"
)

// get reads an object; nil is one that is gone, or another of its name.
func (t *T) get(o *Object) (*Object, *Answer, error) {
	a, err := t.client.do(t.ctx, http.MethodGet, o.Path(), "", nil)
	switch {
	case err != nil:
		return nil, nil, err
	case a.Code == http.StatusNotFound:
		return nil, a, nil
	case a.Code == http.StatusForbidden && t.prefix != "": // of a case, not of the cleaning up
		t.forbidden(a, rightOf(http.MethodGet, o.Of))
		fallthrough
	case a.Code != http.StatusOK:
		return nil, a, fmt.Errorf("the server answers %d: %s", a.Code, a.Message())
	}
	now := decode(o.Of, a)
	if o.GetUID() != "" && now.GetUID() != o.GetUID() {
		return nil, a, nil
	}
	return now, a, nil
}

// Await waits until an object meets all conditions at once, and is that object then. It fails when
// the case's time is up, and at once when the object is lost that should be something.
func (t *T) Await(o *Object, conditions ...Condition) *Object {
	pause := 10 * time.Millisecond
	last, answer := o, (*Answer)(nil)
	seen := "no answer in time"
	for {
		now, a, err := t.get(o)
		if err == nil {
			c := unmet(now, conditions)
			if c == nil {
				return now
			}
			if answer, seen = a, now.state(); now != nil {
				last = now
			} else if !c.Gone {
				t.fail(Failure{Expected: expected(o, conditions), Seen: seen + "; this is how it was seen last", Object: last.YAML(), Request: a.Curl})
			}
		} else if t.ctx.Err() == nil {
			seen = err.Error()
		}
		select {
		case <-time.After(pause):
			pause = min(pause*3/2, 500*time.Millisecond)
		case <-t.ctx.Done():
			f := Failure{Expected: expected(o, conditions), Seen: seen + ", still, " + t.within() + " after the case began", Object: last.YAML()}
			if answer != nil {
				f.Request = answer.Curl
			}
			t.fail(f)
		}
	}
}

// AwaitAll waits for objects, one after the other.
func (t *T) AwaitAll(objects []*Object, conditions ...Condition) {
	for _, o := range objects {
		t.Await(o, conditions...)
	}
}

// Holds checks that an object meets the conditions now, and is that object.
func (t *T) Holds(o *Object, conditions ...Condition) *Object {
	now, a, err := t.get(o)
	if err != nil {
		t.fail(Failure{Expected: expected(o, conditions), Seen: err.Error()})
	}
	if unmet(now, conditions) != nil {
		t.fail(Failure{Expected: expected(o, conditions), Seen: now.state(), Object: now.YAML(), Request: a.Curl})
	}
	return now
}

// Answered checks the object in an answer; a Status means that it is gone.
func (t *T) Answered(a *Answer, o *Object, conditions ...Condition) *Object {
	var now *Object
	if a.Body["kind"] != "Status" {
		now = decode(o.Of, a)
	}
	if unmet(now, conditions) != nil {
		f := Failure{Expected: "in the answer, " + expected(o, conditions), Seen: now.state(), Object: now.YAML(), Request: a.Curl}
		if now == nil {
			f.Seen = "a Status: " + a.Text
		}
		t.fail(f)
	}
	return now
}

// Settle waits until the collector has seen everything of these kinds (of config maps, if none is
// named) that the case made or changed so far. Kubernetes' collector watches each kind by itself,
// and what it hasn't seen it can't orphan or wait for (J-08, J-09): without Settle a case would
// depend on who is faster. Where no collector works there is nothing to wait for.
func (t *T) Settle(kinds ...Kind) {
	if !t.idle {
		t.sentinel(kinds)
	}
}

// Pass waits until the collector has dealt with everything that it had to after the latest change of
// an object of these kinds (of config maps, if none is named). What is there afterwards is there
// because the collector keeps it, not because it is slow: sentinels made after the change come after it
// in the kind's events and in the collector's queue. They go round twice, because the collector
// has several workers.
func (t *T) Pass(kinds ...Kind) {
	t.sentinel(kinds)
	t.sentinel(kinds)
}

// sentinel makes an object of each kind whose owner never existed, and waits until they are collected.
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
	gone.Text += " because its owner never existed (which shows that the collector has seen all before it)"
	t.AwaitAll(made, gone)
}

// Until asks again and again until the answer is yes; seen is what it was instead.
func (t *T) Until(expected string, ask func() (met bool, seen string)) {
	for pause := 10 * time.Millisecond; ; pause = min(pause*3/2, 500*time.Millisecond) {
		met, seen := ask()
		if met {
			return
		}
		select {
		case <-time.After(pause):
		case <-t.ctx.Done():
			t.fail(Failure{Expected: expected, Seen: seen + ", still, " + t.within() + " after the case began"})
		}
	}
}
