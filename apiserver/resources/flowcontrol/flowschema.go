package flowcontrol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func flowSchemas() *entry.Resource {
	return &entry.Resource{
		Plural: "flowschemas", New: entry.New[flowcontrolv1.FlowSchema],
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultFlowSchema),
			Validate:   entry.Validate(validateFlowSchema),
		},
		Subresources: entry.StatusOf(keepMeta[*flowcontrolv1.FlowSchema], validateFlowSchemaStatus),
		Table:        flowSchemaTable(),
	}
}

// defaultFlowSchema sets a matchingPrecedence in the middle of its range.
func defaultFlowSchema(f *flowcontrolv1.FlowSchema) {
	check.FillDefault(&f.Spec.MatchingPrecedence, 1000)
}

// keepMeta restores metadata except managed fields (B-41).
func keepMeta[T metav1.ObjectMetaAccessor](obj, old T) {
	m, managed := obj.GetObjectMeta().(*metav1.ObjectMeta), obj.GetObjectMeta().GetManagedFields()
	*m = *old.GetObjectMeta().(*metav1.ObjectMeta)
	m.ManagedFields = managed
}

var (
	flowVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}
	flowKinds = []flowcontrolv1.SubjectKind{
		flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser,
	}
	flowBy = []flowcontrolv1.FlowDistinguisherMethodType{
		flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType,
	}
)

func validateFlowSchema(f *flowcontrolv1.FlowSchema) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &f.Spec
	precedence := at.Child("matchingPrecedence")
	errs = append(errs, check.Reject(s.MatchingPrecedence <= 0, precedence, s.MatchingPrecedence,
		"must be a positive value")...)
	errs = append(errs, check.Reject(s.MatchingPrecedence > flowcontrolv1.FlowSchemaMaxMatchingPrecedence, precedence,
		s.MatchingPrecedence, "must not be greater than 10000")...)
	errs = append(errs, check.Reject(s.MatchingPrecedence == 1 && f.Name != "exempt", precedence, s.MatchingPrecedence,
		"only the schema named 'exempt' may have matchingPrecedence 1")...)
	if d := s.DistinguisherMethod; d != nil && !slices.Contains(flowBy, d.Type) {
		errs = append(errs, field.NotSupported(at.Child("distinguisherMethod", "type"), d, flowBy))
	}
	level := at.Child("priorityLevelConfiguration", "name")
	errs = append(errs, check.Present(s.PriorityLevelConfiguration.Name != "", level,
		"must reference a priority level")...)
	errs = append(errs, check.NonEmpty(s.PriorityLevelConfiguration.Name, level, check.DNSSubdomain)...)
	errs = append(errs, check.Each(s.Rules, at.Child("rules"), flowRule)...)
	for _, m := range bootstrap.MandatoryFlowSchemas {
		errs = append(errs, check.Reject(f.Name == m.Name && !apiequality.Semantic.DeepEqual(*s, m.Spec), at, s,
			fmt.Sprintf("spec of '%s' must equal the fixed value", f.Name))...)
	}
	return append(errs, validateFlowSchemaStatus(f, f)...)
}

func validateFlowSchemaStatus(f, _ *flowcontrolv1.FlowSchema) field.ErrorList {
	return flowConditions(f.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) string { return string(c.Type) })
}

// flowConditions requires that each condition has a type, and that no type occurs twice.
func flowConditions[C any](list []C, typeOf func(C) string) (errs field.ErrorList) {
	seen := check.Unique[string]{}
	for i, c := range list {
		at, name := check.StatusPath.Child("conditions").Index(i).Child("type"), typeOf(c)
		errs = append(errs, seen.Add(name, at)...)
		errs = append(errs, check.Present(name != "", at, "must not be empty")...)
	}
	return errs
}

func flowRule(r *flowcontrolv1.PolicyRulesWithSubjects, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(len(r.Subjects) > 0, at.Child("subjects"),
		"subjects must contain at least one value")...)
	errs = append(errs, check.Each(r.Subjects, at.Child("subjects"), flowSubject)...)
	errs = append(errs, check.Present(len(r.ResourceRules) > 0 || len(r.NonResourceRules) > 0, at,
		"at least one of resourceRules and nonResourceRules has to be non-empty")...)
	errs = append(errs, check.Each(r.ResourceRules, at.Child("resourceRules"), flowResourceRule)...)
	for i := range r.NonResourceRules {
		n, at := &r.NonResourceRules[i], at.Child("nonResourceRules").Index(i)
		errs = append(errs, flowRuleVerbs(n.Verbs, at.Child("verbs"))...)
		errs = append(errs, flowURLs(n.NonResourceURLs, at.Child("nonResourceURLs"))...)
	}
	return errs
}

// flowSubject requires the member that the subject's kind has, and no other.
func flowSubject(s *flowcontrolv1.Subject, at *field.Path) (errs field.ErrorList) {
	members := []struct {
		kind     flowcontrolv1.SubjectKind
		name     string
		given    bool
		validate func(at *field.Path) field.ErrorList
	}{
		{
			flowcontrolv1.SubjectKindServiceAccount, "serviceAccount", s.ServiceAccount != nil,
			func(at *field.Path) field.ErrorList { return flowAccount(s.ServiceAccount, at) },
		},
		{flowcontrolv1.SubjectKindUser, "user", s.User != nil, func(at *field.Path) field.ErrorList {
			return check.RequireAll(at, "name", s.User.Name)
		}},
		{flowcontrolv1.SubjectKindGroup, "group", s.Group != nil, func(at *field.Path) field.ErrorList {
			return check.RequireAll(at, "name", s.Group.Name)
		}},
	}
	if !slices.Contains(flowKinds, s.Kind) {
		return field.ErrorList{field.NotSupported(at.Child("kind"), s.Kind, flowKinds)}
	}
	var others field.ErrorList
	for _, m := range members {
		switch {
		case m.kind == s.Kind && m.given:
			errs = append(errs, m.validate(at.Child(m.name))...)
		case m.kind == s.Kind:
			errs = append(errs, field.Required(at.Child(m.name),
				fmt.Sprintf("%s is required when subject kind is '%s'", m.name, m.kind)))
		case m.given:
			others = append(others, field.Forbidden(at.Child(m.name),
				fmt.Sprintf("%s is forbidden when subject kind is not '%s'", m.name, m.kind)))
		}
	}
	return append(errs, others...)
}

func flowAccount(s *flowcontrolv1.ServiceAccountSubject, at *field.Path) (errs field.ErrorList) {
	if s.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else if s.Name != "*" {
		errs = append(errs, check.DNSSubdomain(s.Name, at.Child("name"))...)
	}
	if s.Namespace == "" {
		return append(errs, field.Required(at.Child("namespace"), "must specify namespace for service account"))
	}
	return append(errs, check.DNSLabel(s.Namespace, at.Child("namespace"))...)
}

func flowRuleVerbs(verbs []string, at *field.Path) field.ErrorList {
	switch {
	case len(verbs) == 0:
		return field.ErrorList{field.Required(at, "verbs must contain at least one value")}
	case slices.Contains(verbs, "*"):
		return check.WildcardAlone(verbs, "verbs", at)
	}
	for _, v := range verbs {
		if !slices.Contains(flowVerbs, v) {
			return field.ErrorList{field.NotSupported(at, verbs, flowVerbs)}
		}
	}
	return nil
}

func flowResourceRule(r *flowcontrolv1.ResourcePolicyRule, at *field.Path) field.ErrorList {
	errs := flowRuleVerbs(r.Verbs, at.Child("verbs"))
	errs = append(errs, check.Present(len(r.APIGroups) > 0, at.Child("apiGroups"),
		"resource rules must supply at least one api group")...)
	errs = append(errs, check.WildcardAlone(r.APIGroups, "api groups", at.Child("apiGroups"))...)
	errs = append(errs, check.Present(len(r.Resources) > 0, at.Child("resources"),
		"resource rules must supply at least one resource")...)
	errs = append(errs, check.WildcardAlone(r.Resources, "resources", at.Child("resources"))...)
	namespaces := at.Child("namespaces")
	switch {
	case len(r.Namespaces) == 0 && !r.ClusterScope:
		errs = append(errs, field.Required(namespaces,
			"resource rules that are not cluster scoped must supply at least one namespace"))
	case slices.Contains(r.Namespaces, "*"):
		errs = append(errs, check.WildcardAlone(r.Namespaces, "namespaces", namespaces)...)
	default:
		for i, ns := range r.Namespaces {
			for _, text := range apivalidation.ValidateNamespaceName(ns, false) {
				errs = append(errs, field.Invalid(namespaces.Index(i), ns,
					"each member of this list must be '*' or a DNS-1123 label; "+text))
			}
		}
	}
	return errs
}

func flowURLs(urls []string, at *field.Path) (errs field.ErrorList) {
	switch {
	case len(urls) == 0:
		return field.ErrorList{field.Required(at, "nonResourceURLs must contain at least one value")}
	case slices.Contains(urls, "*"):
		return check.WildcardAlone(urls, "non-resource URLs", at)
	}
	for i, u := range urls {
		if text := flowURLFault(u); text != "" {
			errs = append(errs, field.Invalid(at.Index(i), u, text))
		}
	}
	return errs
}

// flowURLFault returns the error of a path, or an empty string.
func flowURLFault(u string) string {
	stars := strings.Count(u, "*")
	switch {
	case u == "":
		return "must not be empty"
	case !strings.HasPrefix(u, "/"):
		return "must start with slash"
	case strings.Contains(u, " "):
		return "must not contain white-space"
	case strings.Contains(u, "//"):
		return "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(u, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}

// flowSchemaTable returns a table in which schemas are sorted by precedence (printFlowSchemaList).
func flowSchemaTable() entry.Table {
	spec := flowcontrolv1.FlowSchemaSpec{}.SwaggerDoc()
	t := entry.Printed([]entry.Column{
		entry.NameColumn,
		entry.Text("PriorityLevel", flowcontrolv1.PriorityLevelConfigurationReference{}.SwaggerDoc()["name"]),
		entry.Text("MatchingPrecedence", spec["matchingPrecedence"]),
		entry.Text("DistinguisherMethod", spec["distinguisherMethod"]),
		entry.AgeColumn,
		entry.Text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
	}, flowSchemaCells)
	t.Compare = func(a, b runtime.Object) int {
		x, y := entry.As[*flowcontrolv1.FlowSchema](a), entry.As[*flowcontrolv1.FlowSchema](b)
		return cmp.Or(cmp.Compare(x.Spec.MatchingPrecedence, y.Spec.MatchingPrecedence), cmp.Compare(x.Name, y.Name))
	}
	return t
}

func flowSchemaCells(s *flowcontrolv1.FlowSchema) []any {
	method, dangling := entry.None, "?"
	if s.Spec.DistinguisherMethod != nil {
		method = string(s.Spec.DistinguisherMethod.Type)
	}
	for _, c := range s.Status.Conditions {
		if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
			dangling = string(c.Status)
			break
		}
	}
	return []any{s.Spec.PriorityLevelConfiguration.Name, int64(s.Spec.MatchingPrecedence), method, dangling}
}
