package bootstrap

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

//go:embed policy.txt
var policy string

// Labels and annotations of default objects.
const (
	labelBootstrapping = "kubernetes.io/bootstrapping"
	labelAggregate     = rbacv1.GroupName + "/aggregate-to-"
)

// RoleObjects has roles and bindings. Callers must not change them.
type RoleObjects struct {
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
	Roles               []*rbacv1.Role
	RoleBindings        []*rbacv1.RoleBinding
}

// DefaultRoles returns the roles and bindings of a new cluster.
var DefaultRoles = sync.OnceValue(func() *RoleObjects {
	o, err := parse(policy)
	if err != nil {
		panic(fmt.Sprintf("bootstrap: policy.txt: %v", err)) // it is a part of the program
	}
	return o
})

func parse(text string) (*RoleObjects, error) {
	o := &RoleObjects{}
	var rules *[]rbacv1.PolicyRule
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var err error
		if rule, ok := strings.CutPrefix(line, "\t"); ok && rules != nil {
			err = addRule(rules, strings.Fields(rule))
		} else {
			rules, err = o.add(strings.Fields(line))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return o, nil
}

func addRule(rules *[]rbacv1.PolicyRule, f []string) error {
	if len(f) < 3 || len(f) > 4 {
		return fmt.Errorf("%q is not a rule", f)
	}
	r := rbacv1.PolicyRule{Verbs: strings.Split(f[0], ",")}
	if f[1] == "url" {
		r.NonResourceURLs = strings.Split(f[2], ",")
	} else {
		r.APIGroups, r.Resources = strings.Split(f[1], ","), strings.Split(f[2], ",")
		for i, g := range r.APIGroups {
			if g == "core" {
				r.APIGroups[i] = ""
			}
		}
		if len(f) == 4 {
			r.ResourceNames = strings.Split(f[3], ",")
		}
	}
	*rules = append(*rules, r)
	return nil
}

// add adds the object of a line. The lines below it add rules to the returned list.
func (o *RoleObjects) add(f []string) (rules *[]rbacv1.PolicyRule, err error) {
	if len(f) < 2 {
		return nil, fmt.Errorf("%q is not an object", f)
	}
	m := metav1.ObjectMeta{
		Name: f[1], Labels: map[string]string{labelBootstrapping: "rbac-defaults"},
		Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"},
	}
	if f[0] == "Role" || f[0] == "RoleBinding" {
		m.Namespace, m.Name, _ = strings.Cut(f[1], "/")
	}
	switch f[0] {
	case "ClusterRole":
		r := &rbacv1.ClusterRole{ObjectMeta: m}
		o.ClusterRoles = append(o.ClusterRoles, r)
		return &r.Rules, aggregate(r, f[2:])
	case "Role":
		r := &rbacv1.Role{ObjectMeta: m}
		o.Roles = append(o.Roles, r)
		return &r.Rules, nil
	case "ClusterRoleBinding":
		b := &rbacv1.ClusterRoleBinding{ObjectMeta: m}
		o.ClusterRoleBindings = append(o.ClusterRoleBindings, b)
		b.RoleRef, b.Subjects, err = grant(f[2:])
	case "RoleBinding":
		b := &rbacv1.RoleBinding{ObjectMeta: m}
		o.RoleBindings = append(o.RoleBindings, b)
		b.RoleRef, b.Subjects, err = grant(f[2:])
	default:
		err = fmt.Errorf("kind %q is not known", f[0])
	}
	return nil, err
}

func aggregate(r *rbacv1.ClusterRole, words []string) error {
	for _, w := range words {
		what, name, _ := strings.Cut(w, "=")
		switch what {
		case "joins":
			r.Labels[labelAggregate+name] = "true"
		case "gathers":
			r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
				{MatchLabels: map[string]string{labelAggregate + name: "true"}}}}
		default:
			return fmt.Errorf("%q is neither joins nor gathers", w)
		}
	}
	return nil
}

// grant parses the role and the subjects of a binding.
func grant(words []string) (ref rbacv1.RoleRef, subjects []rbacv1.Subject, err error) {
	for i, w := range words {
		kind, name, ok := strings.Cut(w, "=")
		s := rbacv1.Subject{Kind: kind, APIGroup: rbacv1.GroupName, Name: name}
		switch {
		case !ok:
			return ref, nil, fmt.Errorf("%q is not a subject", w)
		case i == 0:
			ref = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
			continue
		case kind == rbacv1.ServiceAccountKind:
			s.APIGroup = ""
			s.Namespace, s.Name, _ = strings.Cut(name, "/")
		}
		subjects = append(subjects, s)
	}
	return ref, subjects, nil
}
