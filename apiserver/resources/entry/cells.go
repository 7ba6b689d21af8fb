package entry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// ShownEndpoints is the maximum number of addresses or ports in a cell. The cell ends with the number of further ones.
const ShownEndpoints = 3

// Distinct sorts addresses and removes empty and duplicate ones.
func Distinct(addresses []string) []string {
	addresses = slices.DeleteFunc(addresses, func(a string) bool { return a == "" })
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// ValueOr returns *p, or fallback if p is nil.
func ValueOr[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// StringOr returns s, or fallback if s is empty.
func StringOr(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// Shorten joins the first elements, at most most of them, and appends the number of further ones.
func Shorten(all []string, most int, separator string) string {
	if len(all) <= most {
		return strings.Join(all, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], separator), len(all)-most)
}

// FormatSelector prints a deployment's selector. Unlike metav1.FormatLabelSelector, which the other kinds use, it
// prints an empty selector as an empty string and an invalid one as "<invalid>".
func FormatSelector(s *metav1.LabelSelector) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}

// Placeholders in cells.
const (
	None    = "<none>"
	Unset   = "<unset>"
	Unknown = "<unknown>"
)

// Age returns the duration from t to now in its two most significant units ("5m10s", "3d4h"), or "<unknown>" if t is
// zero.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(now.Sub(t))
}

// AgeOf returns the age of an object at now.
func AgeOf(m *metav1.ObjectMeta, now time.Time) string { return Age(m.CreationTimestamp.Time, now) }

// ContainersOf returns the names and the images of a pod's containers, in their order.
func ContainersOf(s *corev1.PodSpec) (names, images string) {
	var n, i []string
	for _, c := range s.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

// PodColumns returns the last columns of a kind with pods. selector is the description of its field.
func PodColumns(selector string) []Column {
	return []Column{Wide(ContainersColumn), Wide(ImagesColumn), Wide(Text("Selector", selector))}
}

// PodCells returns the cells of PodColumns.
func PodCells(s *corev1.PodSpec, selector string) []any {
	names, images := ContainersOf(s)
	return []any{names, images, selector}
}
