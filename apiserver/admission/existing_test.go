package admission_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// crowd returns n pods. Those whose number is in bad use the host's network.
func crowd(n int, controller func(i int) string, bad ...int) []admission.StoredPod {
	var out []admission.StoredPod
	for i := range n {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%04d", i)}}
		for _, b := range bad {
			pod.Spec.HostNetwork = pod.Spec.HostNetwork || b == i
		}
		out = append(out, admission.StoredPod{Controller: controller(i), Read: func() *corev1.Pod { return pod }})
	}
	return out
}

// TestCheckOfExistingPodsIsLimited: only the first of many pods are checked, beginning with one pod of each controller.
// The check takes at most a second, or half of the request's remaining time.
func TestCheckOfExistingPodsIsLimited(t *testing.T) {
	none := func(int) string { return "" }
	all := `existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"`
	start := time.Unix(1000, 0)
	broken := crowd(2, none, 1)
	broken[0].Read = func() *corev1.Pod { return nil }
	for _, c := range []struct {
		name string
		pods []admission.StoredPod
		err  error
		// step is the time that passes at each reading of the clock.
		step time.Duration
		// left is the remaining time of the request.
		left time.Duration
		want []string
	}{
		{"as many as are checked", crowd(3000, none, 2999), nil, 0, time.Hour, []string{all, "p2999: host namespaces"}},
		{"more", crowd(3001, none, 2999, 3000), nil, 0, time.Hour,
			[]string{
				"new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods", all,
				"p2999: host namespaces",
			}},
		{"more, of one controller", crowd(4000, func(i int) string {
			return map[bool]string{true: "c"}[i < 3999]
		}, 0, 3999, 2998, 2999), nil, 0, time.Hour,
			[]string{
				"new PodSecurity enforce level only checked against the first 3000 of 4000 existing pods", all,
				"p0000 (and 2 other pods): host namespaces",
			}},
		{"nothing found", crowd(3001, none, 3000), nil, 0, time.Hour,
			[]string{"new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods"}},
		{"a second", crowd(30, none, 0, 1), nil, 100 * time.Millisecond, time.Hour,
			[]string{
				"new PodSecurity enforce level only checked against the first 10 of 30 existing pods", all,
				"p0000 (and 1 other pod): host namespaces",
			}},
		{"half of what is left", crowd(30, none, 0, 1), nil, 100 * time.Millisecond, 600 * time.Millisecond,
			[]string{
				"new PodSecurity enforce level only checked against the first 3 of 30 existing pods", all,
				"p0000 (and 1 other pod): host namespaces",
			}},
		{"no time at all", crowd(2, none, 0, 1), nil, time.Hour, time.Hour,
			[]string{
				"new PodSecurity enforce level only checked against the first 1 of 2 existing pods", all, "p0000: host namespaces",
			}},
		{"late with the last", crowd(1, none, 0), nil, time.Hour, time.Hour, []string{all, "p0000: host namespaces"}},
		{"one can't be read", broken, nil, 0, time.Hour, []string{all, "p0001: host namespaces"}},
		{
			"none can be listed", nil, errors.New("no"), 0, time.Hour,
			[]string{"failed to list pods while checking new PodSecurity enforce level"},
		},
	} {
		now := start
		p := &admission.PodSecurity{
			Pods: func(context.Context, string) ([]admission.StoredPod, error) { return c.pods, c.err },
			Now: func() time.Time {
				defer func() { now = now.Add(c.step) }()
				return now
			},
		}
		ns := func(level string) *corev1.Namespace {
			return &corev1.Namespace{
				ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"pod-security.kubernetes.io/enforce": level}},
			}
		}
		var got []string
		err := p.Validate(deadline{context.Background(), start.Add(c.left)}, &admission.Attributes{
			Operation: admission.Update, Resource: &resources.Resource{Plural: "namespaces"}, Name: "n", Object: ns("baseline"),
			Old:   ns("privileged"),
			Notes: admission.Notes{Warn: func(text string) { got = append(got, text) }},
		})
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

// deadline is a context with a deadline on the test's clock.
type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }
