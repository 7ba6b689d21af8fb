package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// ValidateSelector validates a label selector. With allowInvalid it accepts invalid label values.
func ValidateSelector(s *metav1.LabelSelector, allowInvalid bool, at *field.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: allowInvalid}
	return metav1validation.ValidateLabelSelector(s, opts, at)
}

func (r *Rules) affinity(a *corev1.Affinity, at *field.Path) (errs field.ErrorList) {
	nodes, here := check.ValueOf(check.ValueOf(a).NodeAffinity), at.Child("nodeAffinity")
	if s := nodes.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		errs = append(errs, ValidateNodeSelector(s, r.had.invalidNodeAffinity, here.Child(required))...)
	}
	for i, t := range nodes.PreferredDuringSchedulingIgnoredDuringExecution { // invalid label values are accepted
		here := here.Child(preferred).Index(i)
		errs = append(errs, weight(t.Weight, here)...)
		errs = append(errs, nodeTerm(&t.Preference, true, here.Child("preference"))...)
	}
	for _, t := range AffinityTerms(a, at) {
		errs = append(errs, check.Given(t.weight, t.item, weight)...)
		errs = append(errs, r.podTerm(t.PodAffinityTerm, t.at)...)
	}
	return errs
}

// The names of the lists of an affinity.
const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

// AffinityTerm is a term of podAffinity or podAntiAffinity. The list item of a preferred term has the term and a
// weight.
type AffinityTerm struct {
	*corev1.PodAffinityTerm
	weight   *int32
	item, at *field.Path
}

// AffinityTerms returns the terms of podAffinity, then those of podAntiAffinity. In each, required terms precede
// preferred ones.
func AffinityTerms(a *corev1.Affinity, at *field.Path) (terms []AffinityTerm) {
	add := func(hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm, at *field.Path) {
		for i := range hard {
			terms = append(terms, AffinityTerm{PodAffinityTerm: &hard[i], at: at.Child(required).Index(i)})
		}
		for i := range soft {
			item := at.Child(preferred).Index(i)
			terms = append(terms, AffinityTerm{&soft[i].PodAffinityTerm, &soft[i].Weight, item, item.Child("podAffinityTerm")})
		}
	}
	if a != nil && a.PodAffinity != nil {
		add(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAffinity"))
	}
	if a != nil && a.PodAntiAffinity != nil {
		add(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAntiAffinity"))
	}
	return terms
}

// ValidateNodeSelector validates a node selector (core ValidateNodeSelector). allowInvalid is as in ValidateSelector.
func ValidateNodeSelector(s *corev1.NodeSelector, allowInvalid bool, at *field.Path) (errs field.ErrorList) {
	at = at.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(at, "must have at least one node selector term")}
	}
	for i := range s.NodeSelectorTerms {
		errs = append(errs, nodeTerm(&s.NodeSelectorTerms[i], allowInvalid, at.Index(i))...)
	}
	return errs
}

func nodeTerm(t *corev1.NodeSelectorTerm, allowInvalid bool, at *field.Path) (errs field.ErrorList) {
	for i := range t.MatchExpressions {
		errs = append(errs, nodeLabels(&t.MatchExpressions[i], allowInvalid, at.Child("matchExpressions").Index(i))...)
	}
	return append(errs, check.Each(t.MatchFields, at.Child("matchFields"), nodeField)...)
}

const unknownOperator = "not a valid selector operator"

func nodeLabels(q *corev1.NodeSelectorRequirement, allowInvalid bool, at *field.Path) (errs field.ErrorList) {
	values := at.Child("values")
	switch q.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		errs = append(errs, check.Present(len(q.Values) > 0, values,
			"must be specified when `operator` is 'In' or 'NotIn'")...)
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		errs = append(errs, check.Forbid(len(q.Values) > 0, values,
			"may not be specified when `operator` is 'Exists' or 'DoesNotExist'")...)
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		errs = append(errs, check.Present(len(q.Values) == 1, values,
			"must be specified single value when `operator` is 'Lt' or 'Gt'")...)
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), q.Operator, unknownOperator))
	}
	errs = append(errs, metav1validation.ValidateLabelName(q.Key, at.Child("key"))...)
	if allowInvalid {
		return errs
	}
	return append(errs, check.All(q.Values, values, check.LabelValue)...)
}

// nodeField validates a selector on a node's fields. Only the name is supported.
func nodeField(q *corev1.NodeSelectorRequirement, at *field.Path) (errs field.ErrorList) {
	switch q.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		errs = append(errs, check.Present(len(q.Values) == 1, at.Child("values"),
			"must be only one value when `operator` is 'In' or 'NotIn' for node field selector")...)
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), q.Operator, unknownOperator))
	}
	if q.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(at.Child("key"), q.Key, "not a valid field selector key"))
	}
	return append(errs, check.All(q.Values, at.Child("values"), check.DNSSubdomain)...)
}

func weight(n int32, at *field.Path) field.ErrorList {
	return check.Reject(n <= 0 || n > 100, at.Child("weight"), n, "must be in the range 1-100")
}

func (r *Rules) podTerm(t *corev1.PodAffinityTerm, at *field.Path) field.ErrorList {
	errs := ValidateSelector(t.LabelSelector, r.had.invalidSelectors, at.Child("labelSelector"))
	errs = append(errs, ValidateSelector(t.NamespaceSelector, r.had.invalidSelectors, at.Child("namespaceSelector"))...)
	for _, name := range t.Namespaces {
		errs = append(errs, check.DNSLabel(name, at.Child("namespace"))...)
	}
	errs = append(errs, labelKeys(t.MatchLabelKeys, t.LabelSelector, at.Child("matchLabelKeys"))...)
	errs = append(errs, labelKeys(t.MismatchLabelKeys, t.LabelSelector, at.Child("mismatchLabelKeys"))...)
	errs = append(errs, doubledKeys(t.MatchLabelKeys, t.LabelSelector, at)...)
	mismatch := check.Set(t.MismatchLabelKeys...)
	for i, key := range t.MatchLabelKeys {
		errs = append(errs, check.Reject(mismatch[key], at.Child("matchLabelKeys").Index(i), key,
			"exists in both matchLabelKeys and mismatchLabelKeys")...)
	}
	errs = append(errs, check.Present(t.TopologyKey != "", at.Child("topologyKey"), "can not be empty")...)
	return append(errs, metav1validation.ValidateLabelName(t.TopologyKey, at.Child("topologyKey"))...)
}

func labelKeys(keys []string, s *metav1.LabelSelector, at *field.Path) field.ErrorList {
	if len(keys) > 0 && s == nil {
		return field.ErrorList{field.Forbidden(at, "must not be specified when labelSelector is not set")}
	}
	return check.All(keys, at, metav1validation.ValidateLabelName)
}

// doubledKeys rejects keys for which the selector has two requirements. When the pod was created, one requirement was
// added for each key.
func doubledKeys(keys []string, s *metav1.LabelSelector, at *field.Path) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	index := map[string]int{}
	for i, key := range keys {
		index[key] = i
	}
	seen := check.Set(slices.Collect(maps.Keys(s.MatchLabels))...)
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
		errs = append(errs, check.Reject(c.MaxSkew <= 0, here.Child("maxSkew"), c.MaxSkew, check.NotPositiveText)...)
		errs = append(errs, check.Present(c.TopologyKey != "", here.Child("topologyKey"), "can not be empty")...)
		errs = append(errs, check.OneOf(c.WhenUnsatisfiable, here.Child("whenUnsatisfiable"),
			[]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway})...)
		if last[pair{c.TopologyKey, string(c.WhenUnsatisfiable)}] > i {
			errs = append(errs, field.Duplicate(here.Child("{topologyKey, whenUnsatisfiable}"),
				fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
		errs = append(errs, minDomains(c, here.Child("minDomains"))...)
		inclusion := check.Among(corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		errs = append(errs, check.Given(c.NodeAffinityPolicy, here.Child("nodeAffinityPolicy"), inclusion)...)
		errs = append(errs, check.Given(c.NodeTaintsPolicy, here.Child("nodeTaintsPolicy"), inclusion)...)
		errs = append(errs, r.spreadKeys(c, here.Child("matchLabelKeys"))...)
		if !r.had.invalidSpread {
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
	errs = append(errs, check.Reject(*n <= 0, at, n, check.NotPositiveText)...)
	return append(errs, check.Reject(c.WhenUnsatisfiable != corev1.DoNotSchedule, at, n,
		fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable))...)
}

// spreadKeys rejects keys that are also in the selector. A new pod gets a requirement for each key, so in a pod only a
// second requirement for a key is an error.
func (r *Rules) spreadKeys(c *corev1.TopologySpreadConstraint, at *field.Path) field.ErrorList {
	errs := labelKeys(c.MatchLabelKeys, c.LabelSelector, at)
	if r.Pod || c.LabelSelector == nil {
		return append(errs, doubledKeys(c.MatchLabelKeys, c.LabelSelector, at)...)
	}
	selected := check.Set(slices.Collect(maps.Keys(c.LabelSelector.MatchLabels))...)
	for _, e := range c.LabelSelector.MatchExpressions {
		selected[e.Key] = true
	}
	for i, key := range c.MatchLabelKeys {
		errs = append(errs, check.Reject(selected[key], at.Index(i), key, inBoth)...)
	}
	return errs
}

// TaintEffects are the effects of taints and tolerations, in the order of error messages.
var TaintEffects = []corev1.TaintEffect{
	corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
}

// ValidateTolerations validates tolerations (core ValidateTolerations).
func ValidateTolerations(list []corev1.Toleration, at *field.Path) (errs field.ErrorList) {
	for i := range list {
		t, here := &list[i], at.Index(i)
		errs = append(errs, check.NonEmpty(t.Key, here.Child("key"), metav1validation.ValidateLabelName)...)
		errs = append(errs, check.Reject(t.Key == "" && t.Operator != corev1.TolerationOpExists, here.Child("operator"),
			t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")...)
		errs = append(errs, check.Reject(t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute,
			here.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")...)
		errs = append(errs, tolerationOperator(t, here.Child("operator"))...)
		errs = append(errs, check.NonEmpty(t.Effect, here.Child("effect"), check.Among(TaintEffects...))...)
	}
	return errs
}

func tolerationOperator(t *corev1.Toleration, at *field.Path) field.ErrorList {
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		faults := utilvalidation.IsValidLabelValue(t.Value)
		return check.Reject(len(faults) != 0, at, t.Value, strings.Join(faults, ";"))
	case corev1.TolerationOpExists:
		return check.Reject(t.Value != "", at, t.Value, "value must be empty when `operator` is 'Exists'")
	}
	return check.OneOf(t.Operator, at, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists})
}
