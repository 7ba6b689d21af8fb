package dra

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// defaultResourceSlice sets the missing time of taints to now.
func defaultResourceSlice(s *resourcev1.ResourceSlice) { taintDevices(s, time.Now()) }

func taintDevices(s *resourcev1.ResourceSlice, now time.Time) {
	for i := range s.Spec.Devices {
		taints := s.Spec.Devices[i].Taints
		for j := range taints {
			check.SetDefault(&taints[j].TimeAdded, metav1.NewTime(now.Truncate(time.Second)))
		}
	}
}
