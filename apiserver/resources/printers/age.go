package printers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// Age returns how long t is past at now, in the two most significant units ("5m10s", "3d4h"),
// and "<unknown>" for the zero time.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return duration.HumanDuration(now.Sub(t))
}

func age(m *metav1.ObjectMeta, now time.Time) string { return Age(m.CreationTimestamp.Time, now) }
