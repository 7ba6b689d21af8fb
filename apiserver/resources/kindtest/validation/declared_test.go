package validation

import (
	"slices"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/resource"
)

// declaredErrors are the enforced errors of the rules that the types of resource.k8s.io/v1 declare. old is nil for a
// new object.
func declaredErrors(t *testing.T, obj, old runtime.Object, subresource ...string) (errs field.ErrorList) {
	t.Helper()
	s := runtime.NewScheme()
	if err := declared.RegisterValidations(s); err != nil {
		t.Fatal(err)
	}
	gates := map[string]bool{"DRAPartitionableDevicesType": false}
	all := s.Validate(t.Context(), gates, obj, subresource...)
	if old != nil {
		all = s.ValidateUpdate(t.Context(), gates, obj, old, subresource...)
	}
	for _, err := range all {
		if !err.IsAlpha() {
			errs = append(errs, err)
		}
	}
	return errs
}

// compareDeclared fails if a declared error is not among those that are written by hand (V-036, V-038, V-039). The
// order is another one.
func compareDeclared(
	t *testing.T, gvk schema.GroupVersionKind, errs field.ErrorList, obj, old runtime.Object, subresource ...string,
) {
	t.Helper()
	if gvk.GroupVersion() != resourcev1.SchemeGroupVersion {
		return
	}
	for _, want := range declaredErrors(t, obj, old, subresource...) {
		if !slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Error() == want.Error() }) {
			t.Errorf("%s declares %v, which is not in\n%v", gvk.Kind, want, report(errs))
		}
	}
}
