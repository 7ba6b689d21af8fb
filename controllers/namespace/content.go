package namespace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// finalizerSeconds is the time that finalizers are expected to take (E-12).
const finalizerSeconds = 15

// remains describes the objects of one type that remain after an attempt to delete them.
type remains struct {
	resource Resource
	count    int
	// finalizers counts the objects with each finalizer.
	finalizers map[string]int
	// seconds is the estimated time until they are gone; 0 means that there is no estimate. overdue is set if all are
	// being deleted and their estimated time has passed: the seconds until the next attempt.
	seconds, overdue int64
	// counted is the revision at which they were counted, or an earlier one.
	counted int64
}

// grace returns the longest grace period of pods that have not ended, in seconds.
func grace(items []Item) (longest int64) {
	for _, p := range items {
		if p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed && p.GraceSeconds != nil {
			longest = max(longest, *p.GraceSeconds)
		}
	}
	return longest
}

// count counts the remaining objects of a type. Pods may take their grace period, counted from the deletion of the
// namespace. It is an error if objects remain without a known reason (E-12).
func count(r Resource, namespace string, deleted, now time.Time, items []Item) (remains, error) {
	left := remains{resource: r, count: len(items), finalizers: map[string]int{}}
	if left.count == 0 {
		return left, nil
	}
	if broken := unreadable(items); broken != "" {
		return left, fmt.Errorf(
			"objects of gvr %v in namespace %s can't be read, so they can't be deleted: %s", r.GroupVersionResource, namespace,
			broken,
		)
	}
	for _, i := range items {
		for _, f := range i.Finalizers {
			left.finalizers[f]++
		}
	}
	allowed := grace(items)
	switch {
	case now.Sub(deleted)/time.Second < time.Duration(allowed):
		left.seconds = allowed
	case len(left.finalizers) > 0:
		left.seconds = finalizerSeconds
	default:
		if !slices.ContainsFunc(items, func(i Item) bool { return !i.Deleting }) {
			left.overdue = max(allowed, finalizerSeconds)
		}
		return left, fmt.Errorf(
			"unexpected items still remain in namespace: %s for gvr: %v", namespace, r.GroupVersionResource,
		)
	}
	return left, nil
}

// mostNamed is the maximum number of undecodable objects that a condition names.
const mostNamed = 5

// unreadable returns which objects can't be decoded, and why; empty if all can.
func unreadable(items []Item) string {
	var named []string
	n := 0
	for _, i := range items {
		if i.Unreadable == "" {
			continue
		}
		if n++; n <= mostNamed {
			named = append(named, i.Unreadable)
		}
	}
	if n > mostNamed {
		named = append(named, fmt.Sprintf("and %d more", n-mostNamed))
	}
	return strings.Join(named, "; ")
}
