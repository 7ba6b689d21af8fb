package expression_test

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/expression"
)

// TestInterrupted: the evaluation of a list of expressions ends with the request.
func TestInterrupted(t *testing.T) {
	p := expression.CompileValidating(&admissionv1.ValidatingAdmissionPolicySpec{
		Validations: []admissionv1.Validation{{Expression: "true"}, {Expression: "true"}},
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var r expression.Request
	got := p.Validate(ctx, r.In(r.Kind, r.Resource, nil, nil), expression.Bindings{}).Failures
	if len(got) != 1 || !strings.Contains(got[0].Message, "operation interrupted") {
		t.Errorf("failures %+v", got)
	}
}
