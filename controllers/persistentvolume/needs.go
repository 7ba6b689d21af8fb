package persistentvolume

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Reasons for which a pod doesn't fit a node (K pkg/scheduler/framework/plugins/volumebinding/binder.go).
const (
	noVolume     = "node(s) didn't find available persistent volumes to bind"
	otherNode    = "node(s) didn't match PersistentVolume's node affinity"
	noSuchVolume = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
	// usedOnce is of K pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go.
	usedOnce = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
)

// Needs returns what a scheduler needs to know about the claims of a pod. why is the reason why the pod can't be
// assigned to any node, empty if it can. fits returns the reason why it can't be on one node; fits is nil if the pod
// has no claims. bind returns the writes that begin to bind its claims for a node; ready reports whether all claims are
// bound, so that the pod can be assigned. Until then changes of the claims matter. assigned reports whether another pod
// is on a node, or is being assigned.
func Needs(r workload.Reader, pod *corev1.Pod, assigned func(*corev1.Pod) bool) (
	why string, fits func(*corev1.Node) string, bind func(*corev1.Node) (do []workload.Action, ready bool)) {
	var bound []*corev1.PersistentVolumeClaim
	var unbound []unboundClaim
	var used bool
	for i := range pod.Spec.Volumes {
		name := workload.ClaimOf(pod, &pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		p := workload.Get[*corev1.PersistentVolumeClaim](r, pod.Namespace, name)
		if why := unusable(pod, &pod.Spec.Volumes[i], p, name); why != "" {
			return why, nil, nil
		}
		used = used || slices.Contains(p.Spec.AccessModes, corev1.ReadWriteOncePod) && slices.ContainsFunc(users(r, p),
			func(other *corev1.Pod) bool { return other.UID != pod.UID && assigned(other) })
		switch _, done := p.Annotations[bindCompleted]; {
		case done && p.Spec.VolumeName != "":
			bound = append(bound, p)
		case p.Spec.VolumeName != "" || !delayed(r, p):
			return "pod has unbound immediate PersistentVolumeClaims", nil, nil
		default:
			unbound = append(unbound, unboundClaim{p, candidates(r, p, false)})
		}
	}
	if len(bound)+len(unbound) == 0 {
		return "", nil, nil
	}
	fits = func(n *corev1.Node) string {
		if used {
			return usedOnce
		}
		for _, p := range bound {
			v := workload.Get[*corev1.PersistentVolume](r, "", p.Spec.VolumeName)
			switch {
			case v == nil:
				return noSuchVolume
			case !reaches(v, n):
				return otherNode
			}
		}
		if _, ok := choices(r, unbound, n); !ok {
			return noVolume
		}
		return ""
	}
	return "", fits, func(n *corev1.Node) (do []workload.Action, ready bool) {
		do, _ = choices(r, unbound, n)
		return do, len(unbound) == 0
	}
}

// unboundClaim is a claim that waits for its first consumer, with the volumes that it may get.
type unboundClaim struct {
	*corev1.PersistentVolumeClaim
	volumes []*corev1.PersistentVolume
}

// unusable returns the reason why a claim can't be used by any pod, or by this one (K
// pkg/scheduler/framework/plugins/volumebinding/volume_binding.go: podHasPVCs).
func unusable(pod *corev1.Pod, v *corev1.Volume, p *corev1.PersistentVolumeClaim, name string) string {
	switch {
	case p == nil && v.Ephemeral != nil:
		return fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name)
	case p == nil:
		return fmt.Sprintf("persistentvolumeclaim %q not found", name)
	case p.Status.Phase == corev1.ClaimLost:
		return fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, p.Spec.VolumeName)
	case p.DeletionTimestamp != nil:
		return fmt.Sprintf("persistentvolumeclaim %q is being deleted", name)
	}
	if err := ephemeral.VolumeIsForPod(pod, p); v.Ephemeral != nil && err != nil {
		return err.Error()
	}
	return ""
}

// reaches reports whether a volume can be used on a node.
func reaches(v *corev1.PersistentVolume, n *corev1.Node) bool {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return true
	}
	ok, err := corev1helpers.MatchNodeSelectorTerms(n, v.Spec.NodeAffinity.Required)
	return ok && err == nil
}

// choices returns the writes that begin to bind claims for a node: each reserves a volume that fits, or else selects
// the node for a provisioner (K pkg/scheduler/framework/plugins/volumebinding/binder.go: FindPodVolumes,
// bindAPIUpdate). ok is false if neither is possible for one of the claims.
func choices(r workload.Reader, claims []unboundClaim, n *corev1.Node) (do []workload.Action, ok bool) {
	var taken []string
	for _, p := range claims {
		v := best(slices.DeleteFunc(slices.Clone(p.volumes), func(v *corev1.PersistentVolume) bool {
			return !reaches(v, n) || slices.Contains(taken, v.Name)
		}), p.PersistentVolumeClaim)
		selected, done := p.Annotations[selectedNode]
		switch {
		case v != nil:
			taken = append(taken, v.Name)
			if next := refer(v, p.PersistentVolumeClaim); next != nil {
				do = append(do, workload.Update{Object: next})
			}
		case done && selected == n.Name:
		case done || !provisions(r, p.PersistentVolumeClaim, n):
			return nil, false
		default:
			next := p.DeepCopy()
			metav1.SetMetaDataAnnotation(&next.ObjectMeta, selectedNode, n.Name)
			do = append(do, workload.Update{Object: next})
		}
	}
	return do, true
}

// provisions reports whether the class of a claim makes volumes for a node.
func provisions(r workload.Reader, p *corev1.PersistentVolumeClaim, n *corev1.Node) bool {
	class := workload.Get[*storagev1.StorageClass](r, "", classOf(p))
	if class == nil || class.Provisioner == noProvisioner || class.Provisioner == "" {
		return false
	}
	return len(class.AllowedTopologies) == 0 || slices.ContainsFunc(class.AllowedTopologies,
		func(t corev1.TopologySelectorTerm) bool {
			return !slices.ContainsFunc(t.MatchLabelExpressions, func(e corev1.TopologySelectorLabelRequirement) bool {
				return !slices.Contains(e.Values, n.Labels[e.Key])
			})
		})
}
