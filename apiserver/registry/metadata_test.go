package registry

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// TestDeclaredNames: a name that both the kind's rule and a declared rule reject has only one cause (V-036).
func TestDeclaredNames(t *testing.T) {
	n := 0
	for _, r := range resources.Builtin() {
		obj := r.New()
		switch obj.(type) {
		case *corev1.ReplicationController, *resourcev1.DeviceClass:
		default:
			continue
		}
		n++
		m := obj.(metav1.Object)
		m.SetName("Bad_Name")
		var err apierrors.APIStatus
		if !errors.As(validateNew(r, obj.(Object)), &err) {
			t.Fatalf("%s: no error", r.Kind)
		}
		names := 0
		for _, cause := range err.Status().Details.Causes {
			if cause.Field == "metadata.name" {
				names++
			}
		}
		if names != 1 {
			t.Errorf("%s: %d causes for the name: %v", r.Kind, names, err)
		}
	}
	if n != 2 {
		t.Errorf("%d kinds, want 2", n)
	}
}
