package webhook_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	admission "github.com/kubecascade/kubecascade/apiserver/admission/webhook"
)

// TestInvalidDenialCodeBecomes500: a code that is invalid in HTTP is replaced by 500, because net/http would panic.
func TestInvalidDenialCodeBecomes500(t *testing.T) {
	h := &admission.Hook{Name: "h"}
	for sent, want := range map[int32]int32{0: 400, 200: 400, 418: 418, 999: 999, 1000: 500, 99999: 500} {
		err := h.Denial(&admission.Response{Result: &metav1.Status{Code: sent}})
		if st, ok := err.(apierrors.APIStatus); !ok || st.Status().Code != want {
			t.Errorf("%d: %v, want %d", sent, err, want)
		}
	}
}
