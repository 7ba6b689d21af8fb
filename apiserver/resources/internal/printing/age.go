package printing

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Placeholders in cells.
const (
	None    = "<none>"
	Unset   = "<unset>"
	Unknown = "<unknown>"
)

// Age is the duration from t to now in the two most significant units ("5m10s", "3d4h"), and "<unknown>" for the zero
// time.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(now.Sub(t))
}

// AgeOf is the age of an object at now.
func AgeOf(m *metav1.ObjectMeta, now time.Time) string { return Age(m.CreationTimestamp.Time, now) }
