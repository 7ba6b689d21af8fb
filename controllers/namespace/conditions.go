package namespace

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type findings struct {
	// discovery is the reason why not all types are known.
	discovery   error
	contentErrs []error
	left        []remains
	// count is the number of remaining objects. seconds is the longest estimate (E-13), and overdue the longest time until
	// the next attempt to delete objects that should be gone.
	count            int
	seconds, overdue int64
	// counted is the oldest revision at which objects were counted; 0 if none were.
	counted int64
	// podsFirst reports whether the pass ended early because of pods: other types were not examined (E-09).
	podsFirst bool
}

func (f *findings) add(left remains, err error) {
	f.left = append(f.left, left)
	f.count, f.seconds, f.overdue = f.count+left.count, max(f.seconds, left.seconds), max(f.overdue, left.overdue)
	if f.counted == 0 || left.counted < f.counted {
		f.counted = left.counted
	}
	if err != nil {
		f.contentErrs = append(f.contentErrs, err)
	}
}

// conditions returns the conditions of a namespace's status after a pass (E-15), and whether they have changed (E-17).
// Conditions of other types are kept; the argument is not modified.
func conditions(
	had []corev1.NamespaceCondition, f findings, now metav1.Time,
) (next []corev1.NamespaceCondition, changed bool) {
	next = slices.Clone(had)
	for _, c := range found(f) {
		i := slices.IndexFunc(next, func(o corev1.NamespaceCondition) bool { return o.Type == c.Type })
		c.LastTransitionTime = now
		switch {
		case i < 0:
			next, changed = append(next, c), true
		case next[i].Status != c.Status:
			next[i], changed = c, true
		case next[i].Reason != c.Reason || next[i].Message != c.Message:
			c.LastTransitionTime = next[i].LastTransitionTime // E-15
			next[i], changed = c, true
		}
	}
	return next, changed
}

// found returns the five conditions in the order in which they are first written (E-15).
func found(f findings) []corev1.NamespaceCondition {
	left := f.left
	if f.podsFirst {
		left = nil // E-16: a pass that ends with pods has no sums; kept (J-24)
	}
	resources, finalizers := remaining(left)
	discovery := ""
	if f.discovery != nil {
		discovery = f.discovery.Error()
	}
	return []corev1.NamespaceCondition{
		condition(corev1.NamespaceDeletionDiscoveryFailure, discovery,
			"DiscoveryFailed", "ResourcesDiscovered", "All resources successfully discovered"),
		condition(corev1.NamespaceDeletionGVParsingFailure, "",
			"GroupVersionParsingFailed", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
		condition(corev1.NamespaceDeletionContentFailure, contentFailure(f.contentErrs),
			"ContentDeletionFailed", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
		condition(corev1.NamespaceContentRemaining, resources,
			"SomeResourcesRemain", "ContentRemoved", "All content successfully removed"),
		condition(corev1.NamespaceFinalizersRemaining, finalizers,
			"SomeFinalizersRemain", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
	}
}

// condition returns a condition, which is True if there is a problem.
func condition(t corev1.NamespaceConditionType, problem, badReason, goodReason, good string) corev1.NamespaceCondition {
	if problem != "" {
		return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionTrue, Reason: badReason, Message: problem}
	}
	return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionFalse, Reason: goodReason, Message: good}
}

func contentFailure(errs []error) string {
	if len(errs) == 0 {
		return ""
	}
	return fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(errs), sorted(errs, error.Error))
}

// remaining describes the remaining objects by type, a core type with a dot at its end, and by finalizer.
func remaining(left []remains) (resources, finalizers string) {
	total := map[string]int{}
	left = slices.DeleteFunc(slices.Clone(left), func(l remains) bool { return l.count == 0 })
	var names []string
	for _, l := range left {
		for f, n := range l.finalizers {
			if total[f] == 0 {
				names = append(names, f)
			}
			total[f] += n
		}
	}
	if len(left) > 0 {
		resources = "Some resources are remaining: " + sorted(left, func(l remains) string {
			return fmt.Sprintf("%s.%s has %d resource instances", l.resource.Resource, l.resource.Group, l.count)
		})
	}
	if len(names) > 0 {
		finalizers = "Some content in the namespace has finalizers remaining: " + sorted(names, func(f string) string {
			return fmt.Sprintf("%s in %d resource instances", f, total[f])
		})
	}
	return resources, finalizers
}

// sorted prints all values, and joins the sorted texts.
func sorted[T any](ts []T, print func(T) string) string {
	var s []string
	for _, t := range ts {
		s = append(s, print(t))
	}
	slices.Sort(s)
	return strings.Join(s, ", ")
}
