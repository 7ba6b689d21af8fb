package simulation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIneffectiveValuesCauseWarnings: values that have no effect are warned of when they are new.
func TestIneffectiveValuesCauseWarnings(t *testing.T) {
	unknown := `metadata.annotations[kubecascade.io/simulate]: unknown value "runs" is ignored; valid are pending, ` +
		"never-ready, run, succeed, fail, fail=CODE, oom, crashloop, imagepull"
	for _, c := range []struct{ now, before, want map[string]string }{
		{now: nil},
		{now: map[string]string{"other": "runs"}},
		{now: map[string]string{Annotation: Run, AnnotationAfter: "1m", AnnotationUsage: "cpu=80%, web/memory=1Gi"}},
		{now: map[string]string{Annotation: "runs"}, want: map[string]string{unknown: ""}},
		{now: map[string]string{Annotation: "runs"}, before: map[string]string{Annotation: "runs"}},
		{now: map[string]string{Annotation: "runs"}, before: map[string]string{Annotation: "ran"},
			want: map[string]string{unknown: ""}},
		{now: map[string]string{Annotation + ".c": "fail=255", Annotation: Unready, Annotation + "-log": "x"}},
		{now: map[string]string{Annotation + "-afer": "5s", Annotation + "-usage.c": "cpu=1", "kubecascade.io/other": "x"},
			want: map[string]string{
				"metadata.annotations[kubecascade.io/simulate-afer]: unknown annotation is ignored":    "",
				"metadata.annotations[kubecascade.io/simulate-usage.c]: unknown annotation is ignored": ""}},
		{now: map[string]string{Annotation + ".c": Pending}, want: map[string]string{
			`metadata.annotations[kubecascade.io/simulate.c]: "pending" is ignored: it is not for a single container`: ""}},
		{now: map[string]string{Annotation: "runs", Annotation + ".c": "runs"}, want: map[string]string{
			unknown: "", strings.ReplaceAll(unknown, "simulate]", "simulate.c]"): ""}},
		{now: map[string]string{Annotation: "fail=256"}, want: map[string]string{
			strings.ReplaceAll(unknown, "runs", "fail=256"): ""}},
		{now: map[string]string{Annotation: "oom=1"}, want: map[string]string{
			strings.ReplaceAll(unknown, "runs", "oom=1"): ""}},
		{now: map[string]string{AnnotationConditions: "NotReady, DiskPressure"}},
		{now: map[string]string{AnnotationConditions: "Ready"}, want: map[string]string{
			`metadata.annotations[kubecascade.io/simulate-conditions]: unknown value "Ready" is ignored; valid are ` +
				"MemoryPressure, DiskPressure, PIDPressure, NotReady": ""}},
		{now: map[string]string{AnnotationAfter: "-1s"}, want: map[string]string{
			`metadata.annotations[kubecascade.io/simulate-after]: "-1s" is ignored: it is no duration like 5s`: ""}},
		{now: map[string]string{AnnotationUsage: "cpu=1,gpu=1"}, want: map[string]string{
			`metadata.annotations[kubecascade.io/simulate-usage]: the entry "gpu=1" is ignored: it is none like cpu=250m, ` +
				"memory=80% or web/cpu=1": ""}},
		{now: map[string]string{AnnotationUsage: "cpu"}, want: map[string]string{
			`metadata.annotations[kubecascade.io/simulate-usage]: the entry "cpu" is ignored: it is none like cpu=250m, ` +
				"memory=80% or web/cpu=1": ""}},
	} {
		var got map[string]string
		for _, w := range Warnings(c.now, c.before) {
			if got == nil {
				got = map[string]string{}
			}
			got[w] = ""
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v after %v: %s", c.now, c.before, d)
		}
	}
}
