package admissionregistration

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/expression"
)

func textsOfWebhooks(list []admissionv1.MutatingWebhook) expression.Texts {
	t := expression.Texts{}
	for i := range list {
		addConditions(t, list[i].MatchConditions)
	}
	return t
}

func addConditions(t expression.Texts, conditions []admissionv1.MatchCondition) {
	for _, c := range conditions {
		t.Add(expression.Condition, c.Expression)
	}
}

func textsOfValidating(s *admissionv1.ValidatingAdmissionPolicySpec) expression.Texts {
	t := expression.Texts{}
	addConditions(t, s.MatchConditions)
	for _, v := range s.Variables {
		t.Add(expression.Variable, v.Expression)
	}
	for _, v := range s.Validations {
		t.Add(expression.Validation, v.Expression)
		t.Add(expression.Message, v.MessageExpression)
	}
	for _, a := range s.AuditAnnotations {
		t.Add(expression.Annotation, a.ValueExpression)
	}
	return t
}

func textsOfMutating(s *admissionv1.MutatingAdmissionPolicySpec) expression.Texts {
	t := textsOfValidating(common(s))
	for _, m := range s.Mutations {
		if m.JSONPatch != nil {
			t.Add(expression.JSONPatch, m.JSONPatch.Expression)
		}
		if m.ApplyConfiguration != nil {
			t.Add(expression.ApplyConfiguration, m.ApplyConfiguration.Expression)
		}
	}
	return t
}

// required returns an error if the text is empty, with the message missing, or if the expression does not compile.
func required(c *expression.Checker, r expression.Role, text, missing string, at *field.Path) field.ErrorList {
	if strings.TrimSpace(text) == "" {
		return field.ErrorList{field.Required(at, missing)}
	}
	return compiles(c.Check(r, text, at))
}

func compiles(err *field.Error) field.ErrorList {
	if err == nil {
		return nil
	}
	return field.ErrorList{err}
}

// reservedSuffix is the suffix of the names of configurations that a server reads from files. This feature is alpha and
// off, so validation accepts such names with a warning (L-103; K
// pkg/apis/admissionregistration/validation/static_suffix.go).
const reservedSuffix = ".static.k8s.io"

// reservedName returns the warning for a name with the reserved suffix.
func reservedName[T metav1.Object](obj, _ T) []string {
	if !strings.HasSuffix(obj.GetName(), reservedSuffix) {
		return nil
	}
	return []string{`metadata.name: names ending with "` + reservedSuffix +
		`" are reserved for static manifest-based configurations and cannot be managed via the API`}
}
