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
var DefaultRoles = sync.OnceValue(func() *RoleObjects { return parse(policy) })

// parse parses text like that of policy.txt, which is a part of the program. It panics on other lines.
func parse(text string) *RoleObjects {
	o := &RoleObjects{}
	var rules *[]rbacv1.PolicyRule
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); strings.HasPrefix(line, "\t") {
			*rules = append(*rules, ruleOf(f))
		} else {
			rules = o.add(f)
		}
	}
	return o
}

func ruleOf(f []string) rbacv1.PolicyRule {
	r := rbacv1.PolicyRule{Verbs: strings.Split(f[0], ",")}
	if f[1] == "url" {
		r.NonResourceURLs = strings.Split(f[2], ",")
		return r
	}
	r.APIGroups, r.Resources = strings.Split(f[1], ","), strings.Split(f[2], ",")
	for i, g := range r.APIGroups {
		if g == "core" {
			r.APIGroups[i] = ""
		}
	}
	if len(f) == 4 {
		r.ResourceNames = strings.Split(f[3], ",")
	}
	return r
}

// add adds the object of a line. The lines below it add rules to the returned list.
func (o *RoleObjects) add(f []string) (rules *[]rbacv1.PolicyRule) {
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
		aggregate(r, f[2:])
		return &r.Rules
	case "Role":
		r := &rbacv1.Role{ObjectMeta: m}
		o.Roles = append(o.Roles, r)
		return &r.Rules
	case "ClusterRoleBinding":
		b := &rbacv1.ClusterRoleBinding{ObjectMeta: m}
		o.ClusterRoleBindings = append(o.ClusterRoleBindings, b)
		b.RoleRef, b.Subjects = grant(f[2:])
	case "RoleBinding":
		b := &rbacv1.RoleBinding{ObjectMeta: m}
		o.RoleBindings = append(o.RoleBindings, b)
		b.RoleRef, b.Subjects = grant(f[2:])
	default:
		panic(fmt.Sprintf("bootstrap: policy.txt: %q is not an object", f))
	}
	return nil
}

// aggregate adds a role to those that it joins, and selects those that it gathers.
func aggregate(r *rbacv1.ClusterRole, words []string) {
	for _, w := range words {
		if name, ok := strings.CutPrefix(w, "joins="); ok {
			r.Labels[labelAggregate+name] = "true"
		} else {
			r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
				{MatchLabels: map[string]string{labelAggregate + strings.TrimPrefix(w, "gathers="): "true"}}}}
		}
	}
}

// grant parses the role and the subjects of a binding.
func grant(words []string) (ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
	for i, w := range words {
		kind, name, _ := strings.Cut(w, "=")
		s := rbacv1.Subject{Kind: kind, APIGroup: rbacv1.GroupName, Name: name}
		switch {
		case i == 0:
			ref = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
			continue
		case kind == rbacv1.ServiceAccountKind:
			s.APIGroup = ""
			s.Namespace, s.Name, _ = strings.Cut(name, "/")
		}
		subjects = append(subjects, s)
	}
	return ref, subjects
}
