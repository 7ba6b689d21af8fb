package namespace

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestDecisions runs testdata/decisions: the pure parts. The commands are
//
//	conditions at=S       what a pass reports at second S; the lines say what it found
//	count deleting=S      what remains after S seconds; a line for each object (parseItems)
//	order                 the lines are types: group/version/plural
//	finalize finalizers=  what stays
func TestDecisions(t *testing.T) {
	datadriven.Walk(t, "testdata/decisions", func(t *testing.T, path string) {
		var had []corev1.NamespaceCondition
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			lines := strings.Split(d.Input, "\n")
			if d.Input == "" {
				lines = nil
			}
			switch d.Cmd {
			case "conditions":
				at := seconds(t, d, "at")
				next, changed := conditions(had, parseFindings(t, d, lines), metav1.NewTime(epoch.Add(at)))
				had = next
				return printConditions(next, changed)
			case "count":
				return printCount(count(parseType(t, d, "example.com/v1/widgets"), "ns", epoch,
					epoch.Add(seconds(t, d, "deleting")), parseItems(lines)))
			case "order":
				var rs []Resource
				for _, l := range lines {
					rs = append(rs, parseType(t, d, l))
				}
				first, rest := order(rs)
				return fmt.Sprintf("first %v\n", first) + join(rest, "then ")
			case "finalize":
				var fs []corev1.FinalizerName
				arg, _ := d.Arg("finalizers")
				for _, f := range arg.Vals {
					fs = append(fs, corev1.FinalizerName(f))
				}
				before := slices.Clone(fs)
				stay, ok := letGo(fs)
				if !slices.Equal(before, fs) {
					d.Fatalf(t, "the input was changed")
				}
				return fmt.Sprintf("%v write=%v\n", stay, ok)
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func (r Resource) String() string { return r.GroupVersionResource.String() }

func join[T any](ts []T, prefix string) string {
	var b strings.Builder
	for _, t := range ts {
		fmt.Fprintf(&b, "%s%v\n", prefix, t)
	}
	return b.String()
}

func seconds(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	var n float64
	d.ScanArgs(t, key, &n)
	return time.Duration(n * float64(time.Second))
}

func parseType(t *testing.T, d *datadriven.TestData, s string) Resource {
	p := strings.Split(s, "/")
	if len(p) != 3 {
		d.Fatalf(t, "a type is group/version/plural: %q", s)
	}
	return Resource{schema.GroupVersionResource{Group: p[0], Version: p[1], Resource: p[2]}, true, false}
}

// parseItems reads a line for each object: words that are "deleting", a phase, "grace=S" or a finalizer.
func parseItems(lines []string) []Item {
	var items []Item
	for _, l := range lines {
		var i Item
		for _, w := range strings.Fields(l) {
			var grace int64
			switch _, err := fmt.Sscanf(w, "grace=%d", &grace); {
			case err == nil:
				i.GraceSeconds = &grace
			case w == "deleting":
				i.Deleting = true
			case strings.Contains(w, "/"):
				i.Finalizers = append(i.Finalizers, w)
			case w != "-":
				i.Phase = corev1.PodPhase(w)
			}
		}
		items = append(items, i)
	}
	return items
}

func printCount(left remains, err error) string {
	var fs []string
	for f, n := range left.finalizers {
		fs = append(fs, fmt.Sprintf("%s=%d", f, n))
	}
	slices.Sort(fs)
	s := fmt.Sprintf("%d left, %ds, finalizers %v\n", left.count, left.seconds, fs)
	if left.overdue > 0 {
		s += fmt.Sprintf("deleted again after %ds\n", left.overdue)
	}
	if err != nil {
		s += err.Error() + "\n"
	}
	return s
}

func parseFindings(t *testing.T, d *datadriven.TestData, lines []string) findings {
	var f findings
	for _, l := range lines {
		what, rest, _ := strings.Cut(l, ": ")
		switch {
		case what == "error":
			f.contentErrs = append(f.contentErrs, errors.New(rest))
		case what == "pods first":
			f.podsFirst = true
		default:
			left := remains{resource: parseType(t, d, what), finalizers: map[string]int{}}
			for i, w := range strings.Fields(rest) {
				if i == 0 {
					left.count, _ = strconv.Atoi(w)
					continue
				}
				name, n, _ := strings.Cut(w, "=")
				left.finalizers[name], _ = strconv.Atoi(n)
			}
			f.left = append(f.left, left)
		}
	}
	return f
}

func printConditions(cs []corev1.NamespaceCondition, changed bool) string {
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, "%s %s since %v %s: %s\n", c.Type, c.Status, c.LastTransitionTime.Sub(epoch), c.Reason, c.Message)
	}
	if !changed {
		return b.String() + "unchanged\n"
	}
	return b.String()
}
