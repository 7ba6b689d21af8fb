package expression

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestRecordedMutating: policies change objects, and fail, as upstream's do (M-60 to M-64).
func TestRecordedMutating(t *testing.T) {
	cases := read[admissionv1.MutatingAdmissionPolicySpec](t, "mutating.yaml")
	answers := recorded(t, "measured-policies.txt", "MutatingAdmissionPolicy")
	if len(answers) != len(cases) {
		t.Errorf("%d answers for %d cases", len(answers), len(cases))
	}
	for name, spec := range cases {
		t.Run(name, func(t *testing.T) {
			before := examplePod()
			object, errs := mutated(t, &spec, before)
			if diff := cmp.Diff(examplePod(), before); diff != "" {
				t.Errorf("the object was changed in place:\n%s", diff)
			}
			want, ok := answers[name]
			switch {
			case !ok:
				t.Error("there is no recorded answer")
			case want.denied != (len(errs) > 0):
				t.Errorf("got %q, want %q", errs, want.message)
			case want.code == "500":
				var status apierrors.APIStatus
				if !errors.As(errs[0], &status) || status.Status().Message != want.message || status.Status().Code != 500 {
					t.Errorf("got %#v\nwant %s", errs[0], want.message)
				}
			case want.denied:
				for i, cause := range want.causes {
					_, said, _ := strings.Cut(cause, " denied request: ")
					if i >= len(errs) || errs[i].Error() != said {
						t.Errorf("got %q\nwant %q", errs, said)
					}
				}
				if len(errs) != len(want.causes) {
					t.Errorf("%d errors, want %d", len(errs), len(want.causes))
				}
			default:
				got, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				// The recorded object ends before the spec, but for names with "spec".
				if !strings.HasPrefix(string(got), strings.TrimSuffix(want.object, "}")) {
					t.Errorf("got %s\nwant %s", got, want.object)
				}
			}
		})
	}
}

var podTypes = applyconfigurations.NewTypeConverter(scheme.Scheme)

// mutated applies a policy as the dispatcher does, without conversions. The recorded pods have no kind in their JSON.
func mutated(t *testing.T, spec *admissionv1.MutatingAdmissionPolicySpec, pod *corev1.Pod) (*corev1.Pod, []error) {
	t.Helper()
	policy, request, b := CompileMutating(spec), creation(), bindings()
	m := policy.Match(t.Context(), request.In(podKind, pods, pod, nil), b)
	if m.Err != nil {
		return nil, []error{m.Err}
	}
	var errs []error
	for i := range policy.Len() {
		changed, err := policy.Patch(t.Context(), i, request.In(podKind, pods, pod, nil), b, scheme.Scheme, podTypes)
		if err != nil {
			if spec.FailurePolicy == nil || *spec.FailurePolicy == admissionv1.Fail {
				errs = append(errs, err)
			}
			continue
		}
		pod = typed(t, changed)
	}
	out := pod.DeepCopy()
	out.Kind, out.APIVersion = "", ""
	return out, errs
}

func typed(t *testing.T, obj runtime.Object) *corev1.Pod {
	t.Helper()
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj.(*corev1.Pod)
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}
