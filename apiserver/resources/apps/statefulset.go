package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
	"github.com/kubecascade/kubecascade/internal/featuregates"
)

func statefulSets(gates entry.Gates) *entry.Resource {
	unavailable := maxUnavailable(gates.On(featuregates.MaxUnavailableStatefulSet))
	return &entry.Resource{
		Plural: "statefulsets", New: entry.New[appsv1.StatefulSet], Namespaced: true,
		ShortNames: []string{"sts"}, Categories: entry.All,
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			// ValidateStatefulSetName: host names of pods begin with the name, so it must be a label (apps/validation).
			Name:     apivalidation.NameIsDNSLabel,
			Default:  entry.Default(unavailable.defaultSet),
			Prepare:  entry.Change(unavailable.prepareSet),
			Validate: entry.ValidateEither(validateStatefulSet, validateStatefulSetUpdate),
			Warnings: statefulSetWarnings,
		},
		Subresources: []entry.Subresource{
			entry.ScaleOf(schema.GroupResource{}),
			entry.StatusSubresource(nil, validateStatefulSetStatus),
		},
		Table: statefulSetTable(),
	}
}

// maxUnavailable reports whether the feature gate MaxUnavailableStatefulSet is on.
type maxUnavailable bool

// defaultSet sets one replica, ordered pod management, and retained claims. If the client sets only the type
// RollingUpdate, its parameters stay unset. The field maxUnavailable has a default since v1.37 (V-015;
// apps/v1/defaults.go: SetDefaults_StatefulSet).
func (on maxUnavailable) defaultSet(s *appsv1.StatefulSet) {
	check.FillDefault(&s.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	u := &s.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateStatefulSetStrategyType
		check.SetDefault(&u.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if u.Type == appsv1.RollingUpdateStatefulSetStrategyType && u.RollingUpdate != nil {
		check.SetDefault(&u.RollingUpdate.Partition, 0)
		if on {
			check.SetDefault(&u.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		}
	}
	retention := &s.Spec.PersistentVolumeClaimRetentionPolicy
	check.SetDefault(retention, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	check.FillDefault(&(*retention).WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	check.FillDefault(&(*retention).WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	check.SetDefault(&s.Spec.Replicas, 1)
	check.SetDefault(&s.Spec.RevisionHistoryLimit, 10)
	podspec.DefaultTemplate(&s.Spec.Template)
	for i := range s.Spec.VolumeClaimTemplates {
		claim := &s.Spec.VolumeClaimTemplates[i]
		// In apps/v1 the claim templates have an apiVersion and a kind; other versions omit them.
		claim.APIVersion, claim.Kind = "v1", "PersistentVolumeClaim"
		podspec.DefaultClaim(claim)
	}
}

func statefulSetWarnings(obj, old runtime.Object) []string {
	texts := podspec.Warnings(obj, old)
	s, ok := obj.(*appsv1.StatefulSet)
	if !ok {
		return nil
	}
	for i := range s.Spec.VolumeClaimTemplates {
		at := field.NewPath("spec", "volumeClaimTemplates").Index(i)
		if old != nil {
			at = at.Child("Spec") // upstream's paths differ between create and update
		}
		texts = append(texts, check.ClaimWarnings(at, &s.Spec.VolumeClaimTemplates[i].Spec)...)
	}
	if check.ValueOf(s.Spec.RevisionHistoryLimit) < 0 {
		texts = append(texts,
			"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return texts
}

// prepareSet removes the field of the gate if the gate is off and the old set does not have it
// (pkg/registry/apps/statefulset/strategy.go: dropStatefulSetDisabledFields).
func (on maxUnavailable) prepareSet(s, old *appsv1.StatefulSet) {
	was := check.ValueOf(old)
	if u := s.Spec.UpdateStrategy.RollingUpdate; !on && u != nil &&
		check.ValueOf(was.Spec.UpdateStrategy.RollingUpdate).MaxUnavailable == nil {
		u.MaxUnavailable = nil
	}
	podspec.DropTemplateFields(&s.Spec.Template, &was.Spec.Template)
}

// The metadata of volumeClaimTemplates is not validated, as in upstream.

func validateStatefulSet(s *appsv1.StatefulSet) field.ErrorList { return statefulSetSpec(&s.Spec, nil) }

func statefulSetSpec(s, old *appsv1.StatefulSetSpec) (errs field.ErrorList) {
	management := check.SpecPath.Child("podManagementPolicy")
	switch s.PodManagementPolicy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	case "":
		errs = append(errs, field.Required(management, ""))
	default:
		errs = append(errs, field.Invalid(management, s.PodManagementPolicy,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	errs = append(errs, statefulStrategy(&s.UpdateStrategy, check.SpecPath.Child("updateStrategy"))...)
	if p := s.PersistentVolumeClaimRetentionPolicy; p != nil {
		at := check.SpecPath.Child("persistentVolumeClaimRetentionPolicy")
		kept := []appsv1.PersistentVolumeClaimRetentionPolicyType{
			appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		}
		errs = append(errs, check.OneOf(p.WhenDeleted, at.Child("whenDeleted"), kept)...)
		errs = append(errs, check.OneOf(p.WhenScaled, at.Child("whenScaled"), kept)...)
	}
	errs = append(errs, claimTemplates(s, old)...)
	errs = append(errs, check.Naturals(check.SpecPath, "replicas", s.Replicas)...)
	errs = append(errs, check.Natural(s.MinReadySeconds, check.SpecPath.Child("minReadySeconds"))...)
	if s.Ordinals != nil {
		errs = append(errs, check.Natural(s.Ordinals.Start, check.SpecPath.Child("ordinals.start"))...)
	}
	errs = append(errs, serviceName(s, old)...)
	usable, faults := podSelector(s.Selector, "", "empty selector is invalid for statefulset")
	errs = append(errs, faults...)
	if usable != nil {
		if !usable.Empty() {
			errs = append(errs, podspec.MatchesSelector(usable, &s.Template, check.TemplatePath)...)
		}
		errs = append(errs, statefulTemplate(s, old)...)
	}
	return append(errs, podspec.RestartsAlways(&s.Template, "StatefulSet", check.TemplatePath)...)
}

// statefulTemplate validates the pod template together with the volumes of the claim templates. A template that was
// invalid before an update may stay invalid.
func statefulTemplate(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	var before *corev1.PodTemplateSpec
	if old != nil {
		before = &old.Template
		if len(podspec.ValidateTemplate(withClaims(old), before, check.TemplatePath)) != 0 {
			r := podspec.NewRules(&s.Template.Spec, podspec.LegacyOf(&before.Spec, &before.ObjectMeta))
			return r.TemplateMeta(&s.Template, check.TemplatePath)
		}
	}
	return podspec.ValidateTemplate(withClaims(s), before, check.TemplatePath)
}

// withClaims returns the pod template with one volume for each name of a claim template. These volumes are first, and
// replace the template's volumes with the same names. Upstream's order of several such volumes is random.
func withClaims(s *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	if len(s.VolumeClaimTemplates) == 0 {
		return &s.Template
	}
	template, claimed := s.Template, map[string]bool{}
	template.Spec.Volumes = nil
	for i := range s.VolumeClaimTemplates {
		name := s.VolumeClaimTemplates[i].Name
		if claimed[name] {
			continue
		}
		claimed[name] = true
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	}
	for _, v := range s.Template.Spec.Volumes {
		if !claimed[v.Name] {
			template.Spec.Volumes = append(template.Spec.Volumes, v)
		}
	}
	return &template
}

// claimTemplates validates the claim templates, unless they were invalid before.
func claimTemplates(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	if old != nil && len(claimTemplates(old, nil)) != 0 {
		return nil
	}
	var errs field.ErrorList
	for i := range s.VolumeClaimTemplates {
		errs = append(errs, podspec.ValidateClaimSpec(&s.VolumeClaimTemplates[i].Spec, nil,
			check.SpecPath.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
	}
	return errs
}

// serviceName requires a valid name, because it is the subdomain of the pods. It accepts any name if the old one was
// invalid.
func serviceName(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	at := check.SpecPath.Child("serviceName")
	if s.ServiceName == "" || old != nil && len(check.DNSLabel(old.ServiceName, at)) != 0 {
		return nil
	}
	return check.DNSLabel(s.ServiceName, at)
}

func statefulStrategy(s *appsv1.StatefulSetUpdateStrategy, at *field.Path) (errs field.ErrorList) {
	rolling := at.Child("rollingUpdate")
	switch s.Type {
	case "":
		return field.ErrorList{field.Required(at, "")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		errs = append(errs, check.Reject(s.RollingUpdate != nil, rolling, s.RollingUpdate,
			"only allowed for updateStrategy 'RollingUpdate'")...)
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if s.RollingUpdate == nil {
			return nil
		}
		errs = append(errs, check.Naturals(rolling, "partition", s.RollingUpdate.Partition)...)
		if down := s.RollingUpdate.MaxUnavailable; down != nil {
			here := rolling.Child("maxUnavailable")
			errs = append(errs, check.IntOrPercent(*down, here)...)
			errs = append(errs, check.Reject(sizeOf(*down) == 0, here, down, "cannot be 0")...)
			errs = append(errs, check.AtMostWhole(*down, here)...)
		}
	default:
		errs = append(errs, field.Invalid(at, *s, "must be 'RollingUpdate' or 'OnDelete'"))
	}
	return errs
}

// validateStatefulSetUpdate validates an update; most of the spec is immutable.
func validateStatefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	errs := statefulSetSpec(&s.Spec, &old.Spec)
	kept := s.Spec.DeepCopy()
	kept.Replicas = old.Spec.Replicas
	kept.Template = old.Spec.Template
	kept.UpdateStrategy = old.Spec.UpdateStrategy
	kept.MinReadySeconds = old.Spec.MinReadySeconds
	kept.Ordinals = old.Spec.Ordinals
	kept.RevisionHistoryLimit = old.Spec.RevisionHistoryLimit
	kept.PersistentVolumeClaimRetentionPolicy = old.Spec.PersistentVolumeClaimRetentionPolicy
	return append(errs, check.Forbid(!apiequality.Semantic.DeepEqual(*kept, old.Spec), check.SpecPath,
		"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "+
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")...)
}

func validateStatefulSetStatus(set, old *appsv1.StatefulSet) field.ErrorList {
	s := &set.Status
	parts := []podspec.Count{
		{Name: "readyReplicas", N: s.ReadyReplicas}, {Name: "currentReplicas", N: s.CurrentReplicas},
		{Name: "updatedReplicas", N: s.UpdatedReplicas}, {Name: "availableReplicas", N: s.AvailableReplicas},
	}
	errs := podspec.Counts(0, append([]podspec.Count{{Name: "replicas", N: s.Replicas}}, parts...), nil)
	errs = append(errs, check.Natural(s.ObservedGeneration, check.StatusPath.Child("observedGeneration"))...)
	errs = append(errs, check.Naturals(check.StatusPath, "collisionCount", s.CollisionCount)...)
	errs = append(errs, podspec.Counts(s.Replicas, nil, parts)...)
	errs = append(errs, podspec.AvailableReady(s.AvailableReplicas, s.ReadyReplicas,
		"cannot be greater than status.readyReplicas")...)
	return append(errs, collisions(s.CollisionCount, old.Status.CollisionCount)...)
}

func statefulSetTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Text("Ready", "Number of the pod with ready state"),
		entry.Wide(entry.ContainersColumn),
		entry.Wide(entry.ImagesColumn),
	}, func(s *appsv1.StatefulSet) []any {
		names, images := entry.ContainersOf(&s.Spec.Template.Spec)
		ready := fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, entry.ValueOr(s.Spec.Replicas, 0))
		return []any{ready, names, images}
	})
}
