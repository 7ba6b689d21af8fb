package admissionregistration

import (
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// TestTimeOfAdmission: lists that are long, but not wrong, are validated in much less than a second, where
// comparing each item with all others takes minutes.
func TestTimeOfAdmission(t *testing.T) {
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
