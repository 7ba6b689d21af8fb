package flowcontrol

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func keepMeta(m, old *metav1.ObjectMeta) {
	managed := m.ManagedFields
	*m = *old
	m.ManagedFields = managed
}

func flowCondition(kind string, again bool, i int) (errs field.ErrorList) {
	at := field.NewPath("status", "conditions").Index(i).Child("type")
	if again {
		errs = append(errs, field.Duplicate(at, kind))
	}
	errs = append(errs, check.Present(kind != "", at, "must not be empty")...)
	return errs
}
