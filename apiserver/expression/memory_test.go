package expression

import (
	"runtime"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// TestPolicyNeedsAtMostHalfOfUpstreamsMemory: policies share the common parts of their environments. Programs, of
// about 50 KiB each, use most of the rest.
func TestPolicyNeedsAtMostHalfOfUpstreamsMemory(t *testing.T) {
	with := examplePolicy()
	with.Variables = []admissionv1.Variable{{Name: "name", Expression: "object.metadata.name"}}
	with.Validations[0].MessageExpression = "string(variables.name)"
	for name, spec := range map[string]*admissionv1.ValidatingAdmissionPolicySpec{
		"plain": examplePolicy(), "variables": with,
	} {
		ours := memory(func() any { return CompileValidating(spec) })
		theirs := memory(func() any { return upstreams(t, spec) })
		t.Logf("%s: %d bytes, upstream %d", name, ours, theirs)
		if 2*ours > theirs {
			t.Errorf("%s: %d bytes a policy, upstream's need %d", name, ours, theirs)
		}
	}
}

// examplePolicy is a typical policy, with two validations and a message.
func examplePolicy() *admissionv1.ValidatingAdmissionPolicySpec {
	return &admissionv1.ValidatingAdmissionPolicySpec{Validations: []admissionv1.Validation{
		{Expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))"},
		{Expression: "!has(object.metadata.labels) || !('forbidden' in object.metadata.labels)"},
	}}
}

// upstreams compiles a policy as upstream does (ASP validating/plugin.go: compilePolicy).
func upstreams(t *testing.T, spec *admissionv1.ValidatingAdmissionPolicySpec) (kept []any) {
	c, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	add := func(r Role, name, expression string) {
		a := &accessor{role: r, name: name, expression: expression}
		result := c.CompileAndStoreVariable(a, r.declares(false), environment.StoredExpressions)
		if result.Error != nil {
			t.Fatal(result.Error)
		}
		kept = append(kept, result)
	}
	for _, v := range spec.Variables {
		add(Variable, v.Name, v.Expression)
	}
	for _, v := range spec.Validations {
		add(Validation, "", v.Expression)
		if v.MessageExpression != "" {
			add(Message, "", v.MessageExpression)
		}
	}
	return append(kept, c)
}

// memory returns the bytes that each of many values keeps.
func memory(make func() any) uint64 {
	make() // what is shared
	const n = 10
	before, kept := inUse(), [n]any{}
	for i := range kept {
		kept[i] = make()
	}
	each := (inUse() - before) / n
	runtime.KeepAlive(kept)
	return each
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
