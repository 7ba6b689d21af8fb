package resources

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// TestEveryKindIsServedOrRetired: every kind of k8s.io/api is served or retired, and every retired kind is in
// k8s.io/api (V-006). kube-apiserver's scheme also has client-go's kinds, and those of requests to webhooks (K
// pkg/controlplane/import_known_versions.go, pkg/apis/*/install).
func TestEveryKindIsServedOrRetired(t *testing.T) {
	all, meta := runtime.NewScheme(), runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientscheme.AddToScheme, admissionv1.AddToScheme, admissionv1beta1.AddToScheme, imagepolicyv1alpha1.AddToScheme,
	} {
		if err := add(all); err != nil {
			t.Fatal(err)
		}
	}
	metav1.AddToGroupVersion(meta, metav1.SchemeGroupVersion)
	for gvk := range all.AllKnownTypes() {
		list := Scheme().Recognizes(gvk.GroupVersion().WithKind(strings.TrimSuffix(gvk.Kind, "List")))
		internal := gvk.Version == runtime.APIVersionInternal || meta.Recognizes(metav1.SchemeGroupVersion.WithKind(gvk.Kind))
		if !internal && !list && !Scheme().Recognizes(gvk) && !Retired(gvk) {
			t.Errorf("%v is neither served nor retired", gvk)
		}
	}
	for version, kinds := range retired {
		gv, err := schema.ParseGroupVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		for kind := range strings.FieldsSeq(kinds) {
			if !all.Recognizes(gv.WithKind(kind)) {
				t.Errorf("%s, Kind=%s is no kind of k8s.io/api", version, kind)
			}
		}
	}
}
