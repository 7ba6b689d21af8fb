package simulation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNodeHasLabelsOfKubelet: the beta labels, too, and a client's own stay (K pkg/kubelet/kubelet_node_status.go:
// initialNode).
func TestNodeHasLabelsOfKubelet(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"kubernetes.io/os": "windows"}}}
	label(n)
	want := map[string]string{
		"kubernetes.io/hostname": "n", "kubernetes.io/os": "windows", "kubernetes.io/arch": "amd64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64",
	}
	if d := cmp.Diff(want, n.Labels); d != "" {
		t.Errorf("labels (-want +got):\n%s", d)
	}
}
