package admission_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
)

// F-01
func TestInUseProtectionAddsFinalizers(t *testing.T) {
	had := func(fs ...string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: "o", Finalizers: fs} }
	for _, test := range []struct {
		name   string
		object runtime.Object
		attrs  admission.Attributes
		want   []string
	}{
		{
			"volume", &corev1.PersistentVolume{}, admission.Attributes{Operation: admission.Create},
			[]string{"kubernetes.io/pv-protection"},
		},
		{
			"claim", &corev1.PersistentVolumeClaim{}, admission.Attributes{Operation: admission.Create},
			[]string{"kubernetes.io/pvc-protection"},
		},
		{
			"class", &storagev1.VolumeAttributesClass{}, admission.Attributes{Operation: admission.Create},
			[]string{"kubernetes.io/vac-protection"},
		},
		{"storage class", &storagev1.StorageClass{}, admission.Attributes{Operation: admission.Create}, nil},
		{"with others", &corev1.PersistentVolume{ObjectMeta: had("a.io/x")},
			admission.Attributes{Operation: admission.Create},
			[]string{"a.io/x", "kubernetes.io/pv-protection"}},
		{"with its own", &corev1.PersistentVolume{ObjectMeta: had("kubernetes.io/pv-protection", "a.io/x")},
			admission.Attributes{Operation: admission.Create},
			[]string{"kubernetes.io/pv-protection", "a.io/x"}},
		{"updated", &corev1.PersistentVolume{}, admission.Attributes{Operation: admission.Update}, nil},
		{
			"subresource", &corev1.PersistentVolume{}, admission.Attributes{Operation: admission.Create, Subresource: "status"},
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.attrs.Object = test.object
			if err := (admission.InUseProtection{}).Admit(t.Context(), &test.attrs); err != nil {
				t.Fatal(err)
			}
			if got := test.object.(metav1.Object).GetFinalizers(); !slices.Equal(got, test.want) {
				t.Errorf("finalizers %v, want %v", got, test.want)
			}
		})
	}
}
