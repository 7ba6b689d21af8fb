package expression

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// policyOf makes a policy of validations.
func policyOf(expressions ...string) *admissionv1.ValidatingAdmissionPolicySpec {
	s := &admissionv1.ValidatingAdmissionPolicySpec{}
	for _, e := range expressions {
		s.Validations = append(s.Validations, admissionv1.Validation{Expression: e})
	}
	return s
}

func validate(t *testing.T, s *admissionv1.ValidatingAdmissionPolicySpec, b Bindings) Result {
	t.Helper()
	return CompileValidating(s).Validate(t.Context(), creation().In(podKind, pods, examplePod(), nil), b)
}

// messages returns the messages of failures, with a prefix for ignored ones.
func messages(r Result) (all []string) {
	for _, f := range r.Failures {
		prefix := ""
		if f.Ignored {
			prefix = "ignored: "
		}
		all = append(all, prefix+f.Message)
	}
	return all
}

// expensive is an expression of boolean value which costs a bit less than one expression may.
func expensive() string {
	text := strings.Repeat("x", 9500)
	return fmt.Sprintf("!%q.contains(%q)", text, text[1:]+"y")
}

// roles allows bob to create pods in the namespace default, and records the requests.
type roles struct{ asked []authorization.Attributes }

func (r *roles) Authorize(a *authorization.Attributes) authorization.Decision {
	r.asked = append(r.asked, *a)
	why := func() string { return "by a role" }
	if a.User.Name == "bob" && a.Verb == "create" && a.Resource == "pods" && a.Namespace == "default" {
		return authorization.Decision{Verdict: authorization.Allow, Why: why}
	}
	if a.Path == "/denied" {
		return authorization.Decision{Verdict: authorization.Deny, Why: why}
	}
	return authorization.Decision{}
}

func (*roles) Rules(authorization.User, string) ([]rbacv1.PolicyRule, error) { return nil, nil }

// TestAuthorizer: expressions call the server's authorizer for the user of the request or for a service account, and
// only once with the same attributes (M-36).
func TestAuthorizer(t *testing.T) {
	z := &roles{}
	request, b := creation(), bindings()
	request.User = authorization.User{
		Name: "bob", UID: "1", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}},
	}
	const scale = "authorizer.serviceAccount('n', 's').group('apps').resource('deployments')" +
		".subresource('scale').name('d').check('get').allowed()"
	b.Authorizer = AuthorizerOf(z)
	r := CompileValidating(policyOf(
		"authorizer.group('').resource('pods').namespace('default').check('create').allowed()",
		"authorizer.requestResource.check('create').allowed()",
		"authorizer.requestResource.check('create').reason() == 'by a role'",
		"!authorizer.path('/denied').check('get').allowed()",
		scale)).Validate(t.Context(), request.In(podKind, pods, examplePod(), nil), b)
	if diff := cmp.Diff([]string{"failed expression: " + scale}, messages(r)); diff != "" {
		t.Error(diff)
	}
	account := authorization.User{
		Name:   "system:serviceaccount:n:s",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:n"},
	}
	asked := []authorization.Attributes{
		{User: request.User, Verb: "create", IsResource: true, Resource: "pods", Namespace: "default"},
		{User: request.User, Verb: "create", IsResource: true, Resource: "pods", Namespace: "default", Name: "p"},
		{User: request.User, Verb: "get", Path: "/denied"},
		{
			User: account, Verb: "get", IsResource: true, Group: "apps", Resource: "deployments", Subresource: "scale",
			Name: "d",
		},
	}
	for i := range z.asked {
		if z.asked[i].Version != "*" && z.asked[i].IsResource {
			t.Errorf("version %s", z.asked[i].Version)
		}
		z.asked[i].Version = ""
	}
	if diff := cmp.Diff(asked, z.asked); diff != "" {
		t.Error(diff)
	}
}

// TestFailurePolicy: Ignore applies to errors, but not to validations that are false (M-40).
func TestFailurePolicy(t *testing.T) {
	s := policyOf("object.foo == 1", "false", "nothing")
	s.AuditAnnotations = []admissionv1.AuditAnnotation{
		{Key: "a", ValueExpression: "string(object.foo)"}, {Key: "b", ValueExpression: "' x '"},
	}
	ignore := admissionv1.Ignore
	for _, failure := range []*admissionv1.FailurePolicyType{nil, &ignore} {
		s.FailurePolicy = failure
		r, annotationErrors := validate(t, s, bindings()), 1
		ignored := []bool{failure != nil, false, failure != nil}
		if failure != nil {
			annotationErrors = 0
		}
		for i, f := range r.Failures {
			if f.Index != i || f.Ignored != ignored[i] || f.Error == (i == 1) {
				t.Errorf("failure %d with policy %v: %+v", i, failure, f)
			}
		}
		if len(r.Failures) != 3 || len(r.AnnotationErrors) != annotationErrors {
			t.Errorf("policy %v: %+v", failure, r)
		}
		if diff := cmp.Diff([]AuditAnnotation{{"b", "x"}}, r.Annotations); diff != "" {
			t.Error(diff)
		}
	}
}

// TestVariablesAreEvaluatedOnceWhenUsed: a variable is evaluated once for all expressions of a list (M-35).
func TestVariablesAreEvaluatedOnceWhenUsed(t *testing.T) {
	asked := 0
	b := bindings()
	b.Authorizer = authorizer.AuthorizerFunc(
		func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			asked++
			return authorizer.DecisionAllow, "", nil
		},
	)
	s := policyOf("variables.b", "variables.a && variables.b", "variables.a")
	s.Variables = []admissionv1.Variable{
		{Name: "a", Expression: "authorizer.path('/a').check('get').allowed()"},
		{Name: "b", Expression: "variables.a"},
		{Name: "unused", Expression: "object.foo"},
	}
	if r := validate(t, s, b); len(r.Failures) != 0 || asked != 1 {
		t.Errorf("%d questions, %q", asked, messages(r))
	}
}

// TestValidationsAndAnnotationsHaveSeparateBudgets: the cost of a variable is added where it is used, messages share
// the budget of validations, and audit annotations have a separate budget (M-50).
func TestValidationsAndAnnotationsHaveSeparateBudgets(t *testing.T) {
	const exceeded = "validation failed due to running out of cost budget, no further validation rules will be run"
	ten := policyOf()
	for range 10 {
		ten.Validations = append(ten.Validations, admissionv1.Validation{Expression: expensive()})
	}
	said := ten.DeepCopy()
	said.Validations[0].MessageExpression = expensive() + " ? 'a' : 'b'"
	said.Validations[1].MessageExpression = said.Validations[0].MessageExpression
	annotated := ten.DeepCopy()
	for i := range 10 {
		annotated.AuditAnnotations = append(annotated.AuditAnnotations, admissionv1.AuditAnnotation{
			Key: fmt.Sprint(i), ValueExpression: expensive() + " ? '' : null",
		})
	}
	composed := policyOf()
	for i := range 12 {
		name := fmt.Sprint("v", i)
		composed.Variables = append(composed.Variables, admissionv1.Variable{Name: name, Expression: expensive()})
		composed.Validations = append(composed.Validations, admissionv1.Validation{Expression: "variables." + name})
	}
	failed := make([]string, 10)
	for i := range failed {
		failed[i] = "failed messageExpression: " + exceeded
	}
	for name, c := range map[string]struct {
		spec *admissionv1.ValidatingAdmissionPolicySpec
		want []string
	}{
		"ten": {ten, nil}, "messages": {said, failed}, "annotations": {annotated, nil},
		"variables": {composed, []string{exceeded}},
	} {
		if diff := cmp.Diff(c.want, messages(validate(t, c.spec, bindings()))); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	var conditions []admissionv1.MatchCondition
	for i := range 3 {
		conditions = append(conditions, admissionv1.MatchCondition{Name: fmt.Sprint(i), Expression: expensive()})
	}
	version := creation().In(podKind, pods, examplePod(), nil)
	if m := CompileConditions(conditions[:2]).Match(t.Context(), version, bindings(), nil); !m.Matches {
		t.Error(m)
	}
	if m := CompileConditions(conditions).Match(t.Context(), version, bindings(), nil); fmt.Sprint(m.Err) != exceeded {
		t.Error(m)
	}
}

// TestNamespaceObject: expressions of audit annotations see all fields of the namespace, others only some (M-33, M-34).
func TestNamespaceObject(t *testing.T) {
	s := policyOf("namespaceObject.metadata.labels['a'] == 'b'", "!has(dyn(namespaceObject).metadata.ownerReferences)")
	s.AuditAnnotations = []admissionv1.AuditAnnotation{
		{Key: "owner", ValueExpression: "string(dyn(namespaceObject).metadata.ownerReferences[0].name)"},
	}
	b := bindings()
	b.Namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "default", Labels: map[string]string{"a": "b"}, OwnerReferences: []metav1.OwnerReference{{Name: "o"}},
	}}
	r := validate(t, s, b)
	if diff := cmp.Diff([]AuditAnnotation{{"owner", "o"}}, r.Annotations); diff != "" || len(r.Failures) != 0 {
		t.Errorf("%q\n%s", messages(r), diff)
	}
}

// TestResourceOfRequest: request.resource is the one that matched, but in match conditions that of the request.
func TestResourceOfRequest(t *testing.T) {
	s := policyOf("request.resource.version == 'v2' && request.requestResource.version == 'v1'")
	s.MatchConditions = []admissionv1.MatchCondition{{
		Name: "c", Expression: "request.resource.version == 'v1' && request.kind.version == 'v2'",
	}}
	kind, resource := podKind, pods
	kind.Version, resource.Version = "v2", "v2"
	version := creation().In(kind, resource, examplePod(), nil)
	if r := CompileValidating(s).Validate(t.Context(), version, bindings()); !r.Match.Matches || len(r.Failures) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestEvaluationEndsWithItsRequest: evaluation ends with the request.
func TestEvaluationEndsWithItsRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := CompileValidating(policyOf("[1, 2, 3].all(a, [1, 2, 3].all(b, "+strings.Repeat("[1, 2, 3].all(c, ", 4)+
		"true))))))")).Validate(ctx, creation().In(podKind, pods, examplePod(), nil), bindings())
	if got := messages(r); len(got) != 1 || !strings.Contains(got[0], "operation interrupted") {
		t.Errorf("%q", got)
	}
}

// TestConcurrent: a compiled policy is used by many goroutines.
func TestConcurrent(t *testing.T) {
	s := policyOf("variables.name == 'p'")
	s.Variables = []admissionv1.Variable{{Name: "name", Expression: "object.metadata.name"}}
	policy, done := CompileValidating(s), make(chan []string)
	for range 8 {
		go func() {
			var all []string
			for range 20 {
				version := creation().In(podKind, pods, examplePod(), nil)
				all = append(all, messages(policy.Validate(context.Background(), version, bindings()))...)
			}
			done <- all
		}()
	}
	for range 8 {
		if all := <-done; len(all) != 0 {
			t.Error(all)
		}
	}
}
