package statefulset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// claimName returns the name of a template's claim for an ordinal (I-05).
func (s *pass) claimName(template string, n int) string {
	return fmt.Sprintf("%s-%s-%d", template, s.set.Name, n)
}

// volumes returns the volumes of the claims, and then the template's volumes with other names.
func (s *pass) volumes(old []corev1.Volume, n int) (out []corev1.Volume) {
	names := templates(s.set)
	for _, name := range names {
		source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.claimName(name, n)}
		out = append(out, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source}})
	}
	for _, v := range old {
		if !slices.Contains(names, v.Name) {
			out = append(out, v)
		}
	}
	return out
}

// claim returns the stored claim of a template for an ordinal; nil if there is none.
func (s *pass) claim(template string, n int) *corev1.PersistentVolumeClaim {
	return workload.Get[*corev1.PersistentVolumeClaim](s.View, s.set.Namespace, s.claimName(template, n))
}

// missing returns actions that create the pod's missing claims.
func (s *pass) missing(p *corev1.Pod) (do []workload.Action) {
	n := ordinal(p)
	for _, t := range claimTemplates(s.set) {
		if s.claim(t.Name, n) != nil {
			continue
		}
		c := t.DeepCopy()
		c.Name, c.Namespace = s.claimName(t.Name, n), s.set.Namespace
		c.Labels = labels.Merge(c.Labels, s.set.Spec.Selector.MatchLabels)
		c.OwnerReferences = s.references(c, p)
		about := fmt.Sprintf("create Claim %s Pod %s in StatefulSet %s ", c.Name, p.Name, s.set.Name)
		do = append(do, workload.Create{Object: c,
			Done:   workload.Normal("SuccessfulCreate", about+"success"),
			Failed: workload.Warning("FailedCreate", about+"failed error: "+workload.Problem)})
	}
	return do
}

// blocked reports whether a new pod must wait for its claims: one is being deleted, or still belongs to a deleted pod
// of the same name, and will be deleted with that (stateful_pod_control.go: PodClaimIsStale).
func (s *pass) blocked(p *corev1.Pod) bool {
	return slices.ContainsFunc(templates(s.set), func(t string) bool {
		c := s.claim(t, ordinal(p))
		return c != nil && (c.DeletionTimestamp != nil || s.policy().WhenScaled == remove && stale(c, p, workload.Pods))
	})
}

const (
	retain = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	remove = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
)

func (s *pass) policy() appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if p := s.set.Spec.PersistentVolumeClaimRetentionPolicy; p != nil {
		return *p
	}
	return appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: retain, WhenScaled: retain}
}

// retention returns actions that set the owner references of the pod's claims by the policy.
func (s *pass) retention(p *corev1.Pod) (do []workload.Action) {
	for _, t := range templates(s.set) {
		c := s.claim(t, ordinal(p))
		if c == nil || stale(c, s.set, workload.StatefulSets) || stale(c, p, workload.Pods) {
			continue // a stale reference: the garbage collector handles it (I-05)
		}
		refs := s.references(c, p)
		if apiequality.Semantic.DeepEqual(refs, c.OwnerReferences) {
			continue
		}
		c = c.DeepCopy()
		c.OwnerReferences = refs
		do = append(do, workload.Update{Object: c})
	}
	return do
}

// references returns the new owner references of a claim: those of others, and one to the set or to the pod, or none
// (stateful_set_utils.go: updateClaimOwnerRefForSetAndPod).
func (s *pass) references(c *corev1.PersistentVolumeClaim, p *corev1.Pod) []metav1.OwnerReference {
	policy := s.policy()
	var wanted workload.Object
	switch {
	case policy.WhenScaled == remove && !s.wants(ordinal(p)):
		wanted = p
	case policy.WhenDeleted == remove:
		wanted = s.set
	}
	ours := func(r metav1.OwnerReference) bool {
		return names(r, s.set, workload.StatefulSets) || names(r, p, workload.Pods)
	}
	foreign := func(r metav1.OwnerReference) bool { return !ours(r) && r.Controller != nil && *r.Controller }
	if wanted != nil {
		i := slices.IndexFunc(c.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == wanted.GetUID() })
		if i >= 0 && apiequality.Semantic.DeepEqual(c.OwnerReferences[i], workload.ControllerRef(wanted)) {
			// The reference keeps its position.
			return slices.DeleteFunc(slices.Clone(c.OwnerReferences), func(r metav1.OwnerReference) bool {
				return ours(r) && r.UID != wanted.GetUID()
			})
		}
	}
	refs := slices.DeleteFunc(slices.Clone(c.OwnerReferences), ours)
	if wanted == nil || wanted.GetUID() == "" || slices.ContainsFunc(refs, foreign) {
		return refs
	}
	return append(refs, workload.ControllerRef(wanted))
}

func names(r metav1.OwnerReference, o workload.Object, kind workload.Resource) bool {
	return r.APIVersion == kind.APIVersion() && r.Kind == kind.Kind && r.Name == o.GetName()
}

// stale reports whether a claim refers to a deleted object of that name.
func stale(c *corev1.PersistentVolumeClaim, o workload.Object, kind workload.Resource) bool {
	return slices.ContainsFunc(c.OwnerReferences, func(r metav1.OwnerReference) bool {
		return names(r, o, kind) && r.UID != o.GetUID()
	})
}
