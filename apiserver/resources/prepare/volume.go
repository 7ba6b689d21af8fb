package prepare

import (
	corev1 "k8s.io/api/core/v1"
)

// createVolume makes a volume pending since its creation.
func createVolume(v *corev1.PersistentVolume) {
	since := v.CreationTimestamp
	v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &since}
}

// volumeStatus says when the phase changed, where the client doesn't.
func (now clock) volumeStatus(v, old *corev1.PersistentVolume) {
	s := &v.Status
	switch {
	case s.Phase == old.Status.Phase:
		if s.LastPhaseTransitionTime == nil {
			s.LastPhaseTransitionTime = old.Status.LastPhaseTransitionTime
		}
	case s.LastPhaseTransitionTime == nil || s.LastPhaseTransitionTime.Equal(old.Status.LastPhaseTransitionTime):
		at := now()
		s.LastPhaseTransitionTime = &at
	}
}

// createClaim makes a claim pending, and the two fields for its source of data agree.
func createClaim(c *corev1.PersistentVolumeClaim) {
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	dataSource(&c.Spec, nil)
}

func updateClaim(c, old *corev1.PersistentVolumeClaim) { dataSource(&c.Spec, &old.Spec) }

// dataSource drops sources in other namespaces (CrossNamespaceVolumeDataSource) and, unless there
// is or was a reference, those in the older field that are neither claims nor snapshots; then it
// copies the one field to the other if that is empty.
func dataSource(s, old *corev1.PersistentVolumeClaimSpec) {
	if old == nil {
		old = &corev1.PersistentVolumeClaimSpec{}
	}
	if abroad(s.DataSourceRef) && old.DataSourceRef == nil {
		s.DataSourceRef = nil
	}
	if old.DataSource == nil && old.DataSourceRef == nil && s.DataSourceRef == nil && !claimOrSnapshot(s.DataSource) {
		s.DataSource = nil
	}
	from, ref := s.DataSource, s.DataSourceRef
	switch {
	case from != nil && ref == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: clone(from.APIGroup), Kind: from.Kind, Name: from.Name}
	case from == nil && ref != nil && !abroad(ref):
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: clone(ref.APIGroup), Kind: ref.Kind, Name: ref.Name}
	}
}

func abroad(r *corev1.TypedObjectReference) bool { return r != nil && value(r.Namespace) != "" }

func claimOrSnapshot(r *corev1.TypedLocalObjectReference) bool {
	if r == nil {
		return false
	}
	switch value(r.APIGroup) {
	case "":
		return r.Kind == "PersistentVolumeClaim"
	case "snapshot.storage.k8s.io":
		return r.Kind == "VolumeSnapshot"
	}
	return false
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
