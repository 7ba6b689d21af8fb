package expression

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// examplePolicy is like policies that are in use: two validations and a message.
func examplePolicy() *admissionv1.ValidatingAdmissionPolicySpec {
	return &admissionv1.ValidatingAdmissionPolicySpec{Validations: []admissionv1.Validation{
		{Expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))"},
		{Expression: "!has(object.metadata.labels) || !('forbidden' in object.metadata.labels)"},
	}}
}

// BenchmarkValidate: one policy, for a pod of which nothing was evaluated before. The target is 60 µs.
func BenchmarkValidate(b *testing.B) {
	policy, pod, request, with := CompileValidating(examplePolicy()), examplePod(), creation(), bindings()
	b.ReportAllocs()
	for b.Loop() {
		if r := policy.Validate(b.Context(), request.In(podKind, pods, pod, nil), with); len(r.Failures) != 0 {
			b.Fatal(r)
		}
	}
}

// BenchmarkValidateTen: ten policies share the conversion of the pod.
func BenchmarkValidateTen(b *testing.B) {
	policy, pod, request, with := CompileValidating(examplePolicy()), examplePod(), creation(), bindings()
	b.ReportAllocs()
	for b.Loop() {
		version := request.In(podKind, pods, pod, nil)
		for range 10 {
			if r := policy.Validate(b.Context(), version, with); len(r.Failures) != 0 {
				b.Fatal(r)
			}
		}
	}
}

// BenchmarkMatch: the match condition of a webhook.
func BenchmarkMatch(b *testing.B) {
	conditions := CompileConditions([]admissionv1.MatchCondition{{Name: "c", Expression: "request.operation != 'CREATE'"}})
	pod, request, with := examplePod(), creation(), bindings()
	b.ReportAllocs()
	for b.Loop() {
		if m := conditions.Match(b.Context(), request.In(podKind, pods, pod, nil), with, nil); m.Excluded != "c" {
			b.Fatal(m)
		}
	}
}

// BenchmarkCompile: a policy without variables, and one with.
func BenchmarkCompile(b *testing.B) {
	with := examplePolicy()
	with.Variables = []admissionv1.Variable{{Name: "name", Expression: "object.metadata.name"}}
	for name, spec := range map[string]*admissionv1.ValidatingAdmissionPolicySpec{
		"plain": examplePolicy(), "variables": with,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				CompileValidating(spec)
			}
		})
	}
}
