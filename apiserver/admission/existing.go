package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
)

// StoredPod is a pod that has not been decoded.
type StoredPod struct {
	// Controller is the UID of the owner that controls the pod. It is empty if there is none.
	Controller string
	// Read decodes the pod. It returns nil if that fails.
	Read func() *corev1.Pod
}

// Limits for the check of a namespace's pods after a change of the enforced level: the number of pods, and the time
// (PSA admission/admission.go: defaultNamespaceMaxPodsToCheck, defaultNamespacePodCheckTimeout).
const (
	maxExisting     = 3000
	maxExistingTime = time.Second
)

// violation has the number of pods with the same violation, and the first of these pods by name.
type violation struct {
	first string
	pods  int
}

// existing returns the warnings for a namespace's pods that violate the level (EvaluatePodsInNamespace).
func (p *PodSecurity) existing(ctx context.Context, namespace string, by api.LevelVersion) (texts []string) {
	now := p.Now()
	end := now.Add(maxExistingTime)
	if d, ok := ctx.Deadline(); ok { // leave half of the time to the rest of the request
		end = now.Add(min(maxExistingTime, d.Sub(now)/2))
	}
	pods, err := p.Pods(ctx, namespace)
	if err != nil {
		return []string{"failed to list pods while checking new PodSecurity enforce level"}
	}
	found, checked := violations(diverse(pods), by, func() bool { return ctx.Err() != nil || !p.Now().Before(end) })
	if checked < len(pods) {
		texts = append(texts, fmt.Sprintf(
			"new PodSecurity enforce level only checked against the first %d of %d existing pods", checked, len(pods),
		))
	}
	if len(found) == 0 {
		return texts
	}
	texts = append(
		texts,
		fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", namespace, by.String()),
	)
	var messages []string
	for reason, v := range found {
		messages = append(messages, v.String()+": "+reason)
	}
	slices.Sort(messages)
	return append(texts, messages...)
}

// violations checks pods in order, up to the limit or until late returns true, but at least one. It returns the number
// of pods that it has checked.
func violations(pods []StoredPod, by api.LevelVersion, late func() bool) (found map[string]violation, checked int) {
	found = map[string]violation{}
	for _, stored := range pods[:min(len(pods), maxExisting)] {
		checked++
		if pod := stored.Read(); pod != nil {
			if r := evaluate(by, &pod.ObjectMeta, &pod.Spec); !r.Allowed {
				v := found[r.ForbiddenReason()]
				if v.pods++; v.pods == 1 || pod.Name < v.first {
					v.first = pod.Name
				}
				found[r.ForbiddenReason()] = v
			}
		}
		if late() {
			break
		}
	}
	return found, checked
}

// String returns the name of the first pod and the number of the others.
func (v violation) String() string {
	switch v.pods {
	case 1:
		return v.first
	case 2:
		return v.first + " (and 1 other pod)"
	}
	return fmt.Sprintf("%s (and %d other pods)", v.first, v.pods-1)
}

// diverse moves the second and further pods of each controller, which resemble the first one, to the end
// (prioritizePods).
func diverse(pods []StoredPod) []StoredPod {
	seen := map[string]bool{}
	var first, more []StoredPod
	for _, pod := range pods {
		if pod.Controller != "" && seen[pod.Controller] {
			more = append(more, pod)
			continue
		}
		first = append(first, pod)
		seen[pod.Controller] = true
	}
	return append(first, more...)
}
