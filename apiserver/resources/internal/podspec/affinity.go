package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// ValidateSelector validates a label selector; odd accepts invalid label values.
func ValidateSelector(s *metav1.LabelSelector, odd bool, at *field.Path) field.ErrorList {
	opts := metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: odd}
	return metavalidation.ValidateLabelSelector(s, opts, at)
}

func (r *Rules) affinity(a *corev1.Affinity, at *field.Path) (errs field.ErrorList) {
	if a == nil {
		return nil
	}
	if n := a.NodeAffinity; n != nil {
		here := at.Child("nodeAffinity")
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			errs = append(errs, NodeSelector(n.RequiredDuringSchedulingIgnoredDuringExecution, r.had.oddNodeAffinity,
				here.Child("requiredDuringSchedulingIgnoredDuringExecution"))...)
		}
		errs = append(errs, preferredNodes(n.PreferredDuringSchedulingIgnoredDuringExecution,
			here.Child("preferredDuringSchedulingIgnoredDuringExecution"))...)
	}
	if p := a.PodAffinity; p != nil {
		errs = append(errs, r.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution,
			p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAffinity"))...)
	}
	if p := a.PodAntiAffinity; p != nil {
		errs = append(errs, r.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution,
			p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAntiAffinity"))...)
	}
	return errs
}

// NodeSelector validates terms, one of which a node must match (core ValidateNodeSelector).
func NodeSelector(s *corev1.NodeSelector, odd bool, at *field.Path) (errs field.ErrorList) {
	at = at.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(at, "must have at least one node selector term")}
	}
	for i := range s.NodeSelectorTerms {
		errs = append(errs, nodeTerm(&s.NodeSelectorTerms[i], odd, at.Index(i))...)
	}
	return errs
}

func nodeTerm(t *corev1.NodeSelectorTerm, odd bool, at *field.Path) (errs field.ErrorList) {
	for i := range t.MatchExpressions {
		errs = append(errs, nodeLabels(&t.MatchExpressions[i], odd, at.Child("matchExpressions").Index(i))...)
	}
	errs = append(errs, check.Each(t.MatchFields, at.Child("matchFields"), nodeField)...)
	return errs
}

const unknownOperator = "not a valid selector operator"

func nodeLabels(q *corev1.NodeSelectorRequirement, odd bool, at *field.Path) (errs field.ErrorList) {
	values := at.Child("values")
	switch q.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(q.Values) == 0 {
			errs = append(errs, field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(q.Values) > 0 {
			errs = append(errs, field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(q.Values) != 1 {
			errs = append(errs, field.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), q.Operator, unknownOperator))
	}
	errs = append(errs, metavalidation.ValidateLabelName(q.Key, at.Child("key"))...)
	if odd {
		return errs
	}
	for i, v := range q.Values {
		errs = append(errs, check.Apply(v, values.Index(i), utilvalidation.IsValidLabelValue)...)
	}
	return errs
}

// nodeField validates a selector by the node's name, the only supported field.
func nodeField(q *corev1.NodeSelectorRequirement, at *field.Path) (errs field.ErrorList) {
	switch q.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(q.Values) != 1 {
			errs = append(errs, field.Required(
				at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
			))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), q.Operator, unknownOperator))
	}
	if q.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(at.Child("key"), q.Key, "not a valid field selector key"))
	}
	for i, v := range q.Values {
		errs = append(errs, check.NodeName(v, at.Child("values").Index(i))...)
	}
	return errs
}

func weight(n int32, at *field.Path) field.ErrorList {
	if n > 0 && n <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("weight"), n, "must be in the range 1-100")}
}

// preferredNodes accepts values that no node can have.
func preferredNodes(terms []corev1.PreferredSchedulingTerm, at *field.Path) (errs field.ErrorList) {
	for i := range terms {
		errs = append(errs, weight(terms[i].Weight, at.Index(i))...)
		errs = append(errs, nodeTerm(&terms[i].Preference, true, at.Index(i).Child("preference"))...)
	}
	return errs
}

func (r *Rules) podTerms(
	hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm, at *field.Path,
) (errs field.ErrorList) {
	errs = append(errs, check.Each(hard, at.Child("requiredDuringSchedulingIgnoredDuringExecution"), r.podTerm)...)
	for i := range soft {
		here := at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		errs = append(errs, weight(soft[i].Weight, here)...)
		errs = append(errs, r.podTerm(&soft[i].PodAffinityTerm, here.Child("podAffinityTerm"))...)
	}
	return errs
}

func (r *Rules) podTerm(t *corev1.PodAffinityTerm, at *field.Path) field.ErrorList {
	errs := ValidateSelector(t.LabelSelector, r.had.oddSelectors, at.Child("labelSelector"))
	errs = append(errs, ValidateSelector(t.NamespaceSelector, r.had.oddSelectors, at.Child("namespaceSelector"))...)
	for _, name := range t.Namespaces {
		errs = append(errs, check.Apply(name, at.Child("namespace"), check.WholeName(apivalidation.ValidateNamespaceName))...)
	}
	errs = append(errs, labelKeys(t.MatchLabelKeys, t.LabelSelector, at.Child("matchLabelKeys"))...)
	errs = append(errs, labelKeys(t.MismatchLabelKeys, t.LabelSelector, at.Child("mismatchLabelKeys"))...)
	errs = append(errs, doubledKeys(t.MatchLabelKeys, t.LabelSelector, at)...)
	mismatch := check.Set(t.MismatchLabelKeys...)
	for i, key := range t.MatchLabelKeys {
		if mismatch[key] {
			errs = append(errs, field.Invalid(at.Child("matchLabelKeys").Index(i), key,
				"exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	errs = append(errs, check.Present(t.TopologyKey != "", at.Child("topologyKey"), "can not be empty")...)
	return append(errs, metavalidation.ValidateLabelName(t.TopologyKey, at.Child("topologyKey"))...)
}

const withoutSelector = "must not be specified when labelSelector is not set"

func labelKeys(keys []string, s *metav1.LabelSelector, at *field.Path) (errs field.ErrorList) {
	if len(keys) == 0 {
		return nil
	}
	if s == nil {
		return field.ErrorList{field.Forbidden(at, withoutSelector)}
	}
	for i, key := range keys {
		errs = append(errs, metavalidation.ValidateLabelName(key, at.Index(i))...)
	}
	return errs
}

// doubledKeys finds keys that the client's selector contains, in addition to the requirements that were added for these
// keys when the pod was created.
func doubledKeys(keys []string, s *metav1.LabelSelector, at *field.Path) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	index := map[string]int{}
	for i, key := range keys {
		index[key] = i
	}
	seen := map[string]bool{}
	for key := range s.MatchLabels {
		seen[key] = true
	}
	for _, e := range s.MatchExpressions {
		if i, ok := index[e.Key]; ok && seen[e.Key] {
			errs = append(errs, field.Invalid(at.Index(i), e.Key, inBoth))
		}
		seen[e.Key] = true
	}
	return errs
}

const inBoth = "exists in both matchLabelKeys and labelSelector"

func (r *Rules) spread(list []corev1.TopologySpreadConstraint, at *field.Path) (errs field.ErrorList) {
	type pair struct{ key, when string }
	last := map[pair]int{}
	for i := range list {
		last[pair{list[i].TopologyKey, string(list[i].WhenUnsatisfiable)}] = i
	}
	for i := range list {
		c, here := &list[i], at.Index(i)
		if c.MaxSkew <= 0 {
			errs = append(errs, field.Invalid(here.Child("maxSkew"), c.MaxSkew, check.NotPositiveText))
		}
		errs = append(errs, check.Present(c.TopologyKey != "", here.Child("topologyKey"), "can not be empty")...)
		errs = append(errs, check.OneOf(c.WhenUnsatisfiable, here.Child("whenUnsatisfiable"),
			[]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway})...)
		if last[pair{c.TopologyKey, string(c.WhenUnsatisfiable)}] > i {
			errs = append(errs, field.Duplicate(here.Child("{topologyKey, whenUnsatisfiable}"),
				fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
		errs = append(errs, minDomains(c, here.Child("minDomains"))...)
		errs = append(errs, inclusion(c.NodeAffinityPolicy, here.Child("nodeAffinityPolicy"))...)
		errs = append(errs, inclusion(c.NodeTaintsPolicy, here.Child("nodeTaintsPolicy"))...)
		errs = append(errs, r.spreadKeys(c, here.Child("matchLabelKeys"))...)
		if !r.had.oddSpread {
			errs = append(errs, ValidateSelector(c.LabelSelector, false, here.Child("labelSelector"))...)
		}
	}
	return errs
}

func minDomains(c *corev1.TopologySpreadConstraint, at *field.Path) (errs field.ErrorList) {
	n := c.MinDomains
	if n == nil {
		return nil
	}
	if *n <= 0 {
		errs = append(errs, field.Invalid(at, n, check.NotPositiveText))
	}
	if c.WhenUnsatisfiable != corev1.DoNotSchedule {
		errs = append(errs, field.Invalid(at, n,
			fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
	}
	return errs
}

func inclusion(p *corev1.NodeInclusionPolicy, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	return check.OneOf(
		*p, at, []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore},
	)
}

// spreadKeys rejects keys that the selector contains, too. A pod's selector already contains the added keys, so only a
// second requirement counts.
func (r *Rules) spreadKeys(c *corev1.TopologySpreadConstraint, at *field.Path) field.ErrorList {
	errs := labelKeys(c.MatchLabelKeys, c.LabelSelector, at)
	if r.Pod || c.LabelSelector == nil {
		return append(errs, doubledKeys(c.MatchLabelKeys, c.LabelSelector, at)...)
	}
	selected := map[string]bool{}
	for key := range c.LabelSelector.MatchLabels {
		selected[key] = true
	}
	for _, e := range c.LabelSelector.MatchExpressions {
		selected[e.Key] = true
	}
	for i, key := range c.MatchLabelKeys {
		if selected[key] {
			errs = append(errs, field.Invalid(at.Index(i), key, inBoth))
		}
	}
	return errs
}

// TaintEffects are the effects of taints and tolerations, in the order of error messages.
var TaintEffects = []corev1.TaintEffect{
	corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
}

// Tolerations validates tolerations (core ValidateTolerations).
func Tolerations(list []corev1.Toleration, at *field.Path) (errs field.ErrorList) {
	for i := range list {
		t, here := &list[i], at.Index(i)
		errs = append(errs, check.NonEmpty(t.Key, here.Child("key"), metavalidation.ValidateLabelName)...)
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(here.Child("operator"), t.Operator,
				"operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(
				errs, field.Invalid(here.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
			)
		}
		errs = append(errs, tolerationOperator(t, here.Child("operator"))...)
		if t.Effect != "" {
			errs = append(errs, check.OneOf(t.Effect, here.Child("effect"), TaintEffects)...)
		}
	}
	return errs
}

func tolerationOperator(t *corev1.Toleration, at *field.Path) field.ErrorList {
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if faults := utilvalidation.IsValidLabelValue(t.Value); len(faults) != 0 {
			return field.ErrorList{field.Invalid(at, t.Value, strings.Join(faults, ";"))}
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			return field.ErrorList{field.Invalid(at, t.Value, "value must be empty when `operator` is 'Exists'")}
		}
	default:
		return field.ErrorList{field.NotSupported(at, t.Operator,
			[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists})}
	}
	return nil
}
