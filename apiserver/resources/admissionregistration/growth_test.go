package admissionregistration

import (
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// TestLongListsOfAdmissionAreValidatedInLinearTime: long valid lists are validated in much less than a second. If each
// item were compared with all others, this would take minutes.
func TestLongListsOfAdmissionAreValidatedInLinearTime(t *testing.T) {
	const n = 60_000
	name := func(i int) string { return fmt.Sprint("a", i) }
	objecttest.Quick(t, map[string]func() field.ErrorList{
		"names of resources": func() field.ErrorList {
			return namedRule(&admissionv1.NamedRuleWithOperations{ResourceNames: objecttest.ListOf(n, name)}, check.SpecPath)
		},
		"versions of reviews": func() field.ErrorList {
			return reviewVersionsOf(objecttest.ListOf(n, name), webhookTolerance{}, check.SpecPath)
		},
	})
}
