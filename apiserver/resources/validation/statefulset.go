package validation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// Not checked: metadata of volumeClaimTemplates, which upstream leaves unchecked too.

func statefulSet(s *appsv1.StatefulSet) field.ErrorList { return statefulSetSpec(&s.Spec, nil) }

func statefulSetSpec(s, old *appsv1.StatefulSetSpec) (errs field.ErrorList) {
	management := specPath.Child("podManagementPolicy")
	switch s.PodManagementPolicy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	case "":
		errs = append(errs, field.Required(management, ""))
	default:
		errs = append(errs, field.Invalid(management, s.PodManagementPolicy,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	errs = append(errs, statefulStrategy(&s.UpdateStrategy, specPath.Child("updateStrategy"))...)
	if p, at := s.PersistentVolumeClaimRetentionPolicy, specPath.Child("persistentVolumeClaimRetentionPolicy"); p != nil {
		kept := []appsv1.PersistentVolumeClaimRetentionPolicyType{
			appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		}
		errs = append(errs, oneOf(p.WhenDeleted, at.Child("whenDeleted"), kept)...)
		errs = append(errs, oneOf(p.WhenScaled, at.Child("whenScaled"), kept)...)
	}
	errs = append(errs, claimTemplates(s, old)...)
	errs = append(errs, naturals(specPath, "replicas", s.Replicas)...)
	errs = append(errs, natural(s.MinReadySeconds, specPath.Child("minReadySeconds"))...)
	if s.Ordinals != nil {
		errs = append(errs, natural(s.Ordinals.Start, specPath.Child("ordinals.start"))...)
	}
	errs = append(errs, serviceName(s, old)...)
	usable, faults := podSelector(s.Selector, "", "empty selector is invalid for statefulset")
	errs = append(errs, faults...)
	if usable != nil {
		if !usable.Empty() {
			errs = append(errs, matched(usable, &s.Template, templatePath)...)
		}
		errs = append(errs, statefulTemplate(s, old)...)
	}
	return append(errs, lasting(&s.Template, "StatefulSet", templatePath)...)
}

// statefulTemplate judges the template's pods with the volumes that their claims will be. A template
// that was wrong before it was judged stays changeable.
func statefulTemplate(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	var before *corev1.PodTemplateSpec
	if old != nil {
		before = &old.Template
		if len(template(before, before, templatePath, claimNames(old)...)) != 0 {
			r := rules(&s.Template.Spec, legacyOf(&before.Spec, &before.ObjectMeta))
			return r.templateMeta(&s.Template, templatePath)
		}
	}
	return template(&s.Template, before, templatePath, claimNames(s)...)
}

func claimNames(s *appsv1.StatefulSetSpec) (names []string) {
	for i := range s.VolumeClaimTemplates {
		names = append(names, s.VolumeClaimTemplates[i].Name)
	}
	return names
}

// claimTemplates judges the claims that each pod gets, unless they were wrong before.
func claimTemplates(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	if old != nil && len(claimTemplates(old, nil)) != 0 {
		return nil
	}
	var errs field.ErrorList
	for i := range invalid.Each(s.VolumeClaimTemplates, &errs) {
		errs = append(errs, claimSpec(&s.VolumeClaimTemplates[i].Spec, nil, specPath.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
	}
	return errs
}

// serviceName wants what each pod's subdomain can be, unless it couldn't be before.
func serviceName(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	at := specPath.Child("serviceName")
	if s.ServiceName == "" || old != nil && len(label(old.ServiceName, at)) != 0 {
		return nil
	}
	return label(s.ServiceName, at)
}

func statefulStrategy(s *appsv1.StatefulSetUpdateStrategy, at *field.Path) (errs field.ErrorList) {
	rolling := at.Child("rollingUpdate")
	switch s.Type {
	case "":
		return field.ErrorList{field.Required(at, "")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		if s.RollingUpdate != nil {
			errs = append(errs, field.Invalid(rolling, internal(s.RollingUpdate), "only allowed for updateStrategy 'RollingUpdate'"))
		}
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if s.RollingUpdate == nil {
			return nil
		}
		errs = append(errs, naturals(rolling, "partition", s.RollingUpdate.Partition)...)
		if down := s.RollingUpdate.MaxUnavailable; down != nil {
			here := rolling.Child("maxUnavailable")
			errs = append(errs, intOrPercent(*down, here)...)
			if sizeOf(*down) == 0 {
				errs = append(errs, field.Invalid(here, *down, "cannot be 0"))
			}
			errs = append(errs, atMostWhole(*down, here)...)
		}
	default:
		errs = append(errs, field.Invalid(at, internal(*s), "must be 'RollingUpdate' or 'OnDelete'"))
	}
	return errs
}

// statefulSetUpdate judges a change; most of the spec can't be changed.
func statefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	errs := statefulSetSpec(&s.Spec, &old.Spec)
	kept := s.Spec.DeepCopy()
	kept.Replicas = old.Spec.Replicas
	kept.Template = old.Spec.Template
	kept.UpdateStrategy = old.Spec.UpdateStrategy
	kept.MinReadySeconds = old.Spec.MinReadySeconds
	kept.Ordinals = old.Spec.Ordinals
	kept.RevisionHistoryLimit = old.Spec.RevisionHistoryLimit
	kept.PersistentVolumeClaimRetentionPolicy = old.Spec.PersistentVolumeClaimRetentionPolicy
	if !apiequality.Semantic.DeepEqual(*kept, old.Spec) {
		errs = append(errs, field.Forbidden(specPath, "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"))
	}
	return errs
}

func statefulSetStatus(set, old *appsv1.StatefulSet) field.ErrorList {
	s := &set.Status
	parts := []count{
		{"readyReplicas", s.ReadyReplicas}, {"currentReplicas", s.CurrentReplicas},
		{"updatedReplicas", s.UpdatedReplicas}, {"availableReplicas", s.AvailableReplicas},
	}
	errs := counts(0, append([]count{{"replicas", s.Replicas}}, parts...), nil)
	errs = append(errs, natural(s.ObservedGeneration, statusPath.Child("observedGeneration"))...)
	errs = append(errs, naturals(statusPath, "collisionCount", s.CollisionCount)...)
	errs = append(errs, counts(s.Replicas, nil, parts)...)
	errs = append(errs, availableReady(s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than status.readyReplicas")...)
	return append(errs, collisions(s.CollisionCount, old.Status.CollisionCount)...)
}
