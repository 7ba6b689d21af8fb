package finalizers

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/cockroachdb/datadriven"
)

// epoch is the time when every scenario begins; times are printed relative to it.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// kinds are the names that scenarios use.
var kinds = map[string]Kind{
	"default":        {},
	"default-orphan": {Policy: OrphanDependents},
	"unsupported":    {Policy: Unsupported},
	"pod":            {Graceful: true},
	"namespace":      {Namespace: true},
	"crd":            {Cleanup: "customresourcecleanup.apiextensions.k8s.io"},
}

// TestScenarios runs testdata/scenarios. The commands are
//
//	clock T               the time is T after the beginning
//	object kind=K ...     an object as it is stored
//	delete ...            the verdict on a DELETE; it is carried out, unless dry-run is given
//	update ...            the verdict on an update that changes what is given; it is carried out
//	matrix                the table of C-22
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &scenario{now: epoch}
		datadriven.RunTest(t, path, s.run)
	})
}

type scenario struct {
	now  time.Time
	kind Kind
	obj  Object
	gone bool
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "clock":
		after, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.now = epoch.Add(after)
		return ""
	case "object":
		return s.object(t, d)
	case "delete":
		return s.delete(t, d)
	case "update":
		return s.update(t, d)
	case "matrix":
		return matrix(t)
	}
	d.Fatalf(t, "unknown command")
	return ""
}

func (s *scenario) object(t *testing.T, d *datadriven.TestData) string {
	kind := "default"
	d.MaybeScanArgs(t, "kind", &kind)
	k, ok := kinds[kind]
	if !ok {
		d.Fatalf(t, "unknown kind")
	}
	k.DefaultGraceSeconds = number(t, d, "default-grace")
	k.GraceForbidden = d.HasArg("grace-forbidden")
	s.kind, s.gone = k, false
	s.obj = Object{UID: "A", ResourceVersion: "1"}
	s.obj.GracePeriodSeconds = number(t, d, "grace")
	if n := number(t, d, "generation"); n != nil {
		s.obj.Generation = *n
	}
	if n := number(t, d, "deletion"); n != nil {
		s.obj.Deletion = epoch.Add(time.Duration(*n) * time.Second)
	}
	s.obj.Finalizers, _ = list(d, "finalizers")
	s.obj.SpecFinalizers, _ = list(d, "spec-finalizers")
	return ""
}

func (s *scenario) delete(t *testing.T, d *datadriven.TestData) string {
	if s.gone {
		d.Fatalf(t, "the object is gone")
	}
	o := Options{GracePeriodSeconds: number(t, d, "grace"), UID: text(d, "uid"), ResourceVersion: text(d, "rv")}
	if v := text(d, "policy"); v != nil {
		o.PropagationPolicy = *v
	}
	if v := text(d, "orphanDependents"); v != nil {
		b := *v == "true"
		o.OrphanDependents = &b
	}
	v := Delete(s.obj, s.kind, o, s.now)
	if err := check(s.obj, s.kind, v, s.now); err != nil {
		d.Fatalf(t, "%v", err)
	}
	if !d.HasArg("dry-run") {
		s.carryOut(v, s.obj.SpecFinalizers)
	}
	return describe(v) + "\n"
}

func (s *scenario) update(t *testing.T, d *datadriven.TestData) string {
	if s.gone {
		d.Fatalf(t, "the object is gone")
	}
	u := s.obj
	if f, ok := list(d, "finalizers"); ok {
		u.Finalizers = f
	}
	if f, ok := list(d, "spec-finalizers"); ok {
		u.SpecFinalizers = f
	}
	if n := number(t, d, "generation"); n != nil {
		u.Generation = *n
	}
	if d.HasArg("undelete") {
		u.Deletion, u.GracePeriodSeconds = time.Time{}, nil
	}
	v := updateTo(s.obj, u)
	if err := checkUpdate(s.obj, u, v); err != nil {
		d.Fatalf(t, "%v", err)
	}
	s.carryOut(v, u.SpecFinalizers)
	return describe(v) + "\n"
}

func (s *scenario) carryOut(v Verdict, specFinalizers []string) {
	s.gone = v.Step == Remove || v.Step == StoreThenRemove
	if v.Step == Store {
		s.obj = stored(s.obj, v)
		s.obj.SpecFinalizers = specFinalizers
	}
}

// stored returns the object after v has been written over it.
func stored(obj Object, v Verdict) Object {
	rv, _ := strconv.Atoi(obj.ResourceVersion)
	obj.ResourceVersion = strconv.Itoa(rv + 1)
	obj.Finalizers, obj.Deletion = v.Finalizers, v.Deletion
	obj.GracePeriodSeconds, obj.Generation = v.GracePeriodSeconds, v.Generation
	return obj
}

func describe(v Verdict) string {
	var b strings.Builder
	b.WriteString(v.Step.String())
	if v.Step == Store || v.Step == StoreThenRemove {
		fmt.Fprintf(&b, " finalizers=%v", v.Finalizers)
		if !v.Deletion.IsZero() {
			fmt.Fprintf(&b, " deletion=%v", v.Deletion.Sub(epoch).Seconds())
		}
		if v.GracePeriodSeconds != nil {
			fmt.Fprintf(&b, " grace=%d", *v.GracePeriodSeconds)
		}
		if v.Generation != 0 {
			fmt.Fprintf(&b, " generation=%d", v.Generation)
		}
		if v.MarkTerminating {
			b.WriteString(" (now terminating)")
		}
	}
	if v.Accepted {
		b.WriteString(" (202)")
	}
	if v.Conflict != nil {
		fmt.Fprintf(&b, ", %v: %s", v.Conflict.Kind, v.Conflict.Cause())
	}
	return b.String()
}

func matrix(t *testing.T) string {
	yes, no := true, false
	options := []struct {
		name string
		o    Options
	}{
		{"none", Options{}},
		{"orphanDependents=true", Options{OrphanDependents: &yes}},
		{"orphanDependents=false", Options{OrphanDependents: &no}},
		{"Orphan", Options{PropagationPolicy: "Orphan"}},
		{"Foreground", Options{PropagationPolicy: "Foreground"}},
		{"Background", Options{PropagationPolicy: "Background"}},
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "stored, kind")
	for _, o := range options {
		fmt.Fprint(w, "\t", o.name)
	}
	fmt.Fprintln(w)
	for _, finalizers := range [][]string{
		nil, {Orphan}, {Foreground}, {"other/x"}, {"other/x", Orphan}, {Foreground, "other/x"},
	} {
		for _, kind := range []string{"default", "default-orphan", "unsupported"} {
			fmt.Fprintf(w, "%v, %s", finalizers, kind)
			for _, o := range options {
				obj := Object{UID: "A", Finalizers: finalizers}
				v := Delete(obj, kinds[kind], o.o, epoch)
				if err := check(obj, kinds[kind], v, epoch); err != nil {
					t.Errorf("%v, %s, %s: %v", finalizers, kind, o.name, err)
				}
				cell := "gone"
				if v.Step == Store {
					cell = fmt.Sprint(v.Finalizers)
				}
				fmt.Fprint(w, "\t", cell)
			}
			fmt.Fprintln(w)
		}
	}
	w.Flush()
	return b.String()
}

func text(d *datadriven.TestData, key string) *string {
	if a, ok := d.Arg(key); ok {
		return &a.Vals[0]
	}
	return nil
}

func number(t *testing.T, d *datadriven.TestData, key string) *int64 {
	s := text(d, key)
	if s == nil {
		return nil
	}
	n, err := strconv.ParseInt(*s, 10, 64)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return &n
}

func list(d *datadriven.TestData, key string) (vals []string, ok bool) {
	a, ok := d.Arg(key)
	for _, v := range a.Vals {
		if v != "" {
			vals = append(vals, v)
		}
	}
	return vals, ok
}
