package aggregation_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/aggregation"
)

func rule(verb string) rbacv1.PolicyRule { return rbacv1.PolicyRule{Verbs: []string{verb}} }

// role joins an aggregate if label isn't empty, and gathers one if gathers isn't.
func role(name, label, gathers string, verbs ...string) *rbacv1.ClusterRole {
	r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if label != "" {
		r.Labels = map[string]string{label: "true"}
	}
	if gathers != "" {
		r.AggregationRule = &rbacv1.AggregationRule{
			ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{gathers: "true"}}},
		}
	}
	for _, v := range verbs {
		r.Rules = append(r.Rules, rule(v))
	}
	return r
}

func TestChanges(t *testing.T) {
	broken := role("broken", "", "x", "kept")
	broken.AggregationRule.ClusterRoleSelectors[0].MatchExpressions = []metav1.LabelSelectorRequirement{
		{Key: "a", Operator: "Odd"},
	}
	got := aggregation.Changes([]*rbacv1.ClusterRole{
		role("z", "x", "", "get", "list"), role("a", "x", "", "list", "watch"), role("other", "y", "", "delete"),
		role("g", "x", "x", "by hand"), role("full", "", "y", "delete"), role("empty", "", "nobody", "by hand"), broken,
	})
	want := []aggregation.Change{
		{Name: "empty"}, {Name: "g", Rules: []rbacv1.PolicyRule{rule("list"), rule("watch"), rule("get")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCircle: roles that aggregate each other converge.
func TestCircle(t *testing.T) {
	roles := []*rbacv1.ClusterRole{role("a", "x", "y", "get"), role("b", "y", "x", "list")}
	for range 3 {
		for _, c := range aggregation.Changes(roles) {
			for _, r := range roles {
				if r.Name == c.Name {
					r.Rules = c.Rules
				}
			}
		}
	}
	if got := aggregation.Changes(roles); len(got) > 0 {
		t.Errorf("there is still something to change: %+v", got)
	}
}

// memory is an API server's cluster roles.
type memory struct {
	roles   []*rbacv1.ClusterRole
	changed chan struct{}
	fail    int
}

func (m *memory) Follow(ctx context.Context, changed func()) error {
	for {
		select {
		case <-m.changed:
			changed()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *memory) Roles() (out []*rbacv1.ClusterRole, err error) {
	for _, r := range m.roles {
		out = append(out, r.DeepCopy())
	}
	return out, nil
}

func (m *memory) SetRules(_ context.Context, name string, rules []rbacv1.PolicyRule) error {
	if m.fail > 0 {
		m.fail--
		return errors.New("not now")
	}
	for _, r := range m.roles {
		if r.Name == name {
			r.Rules = rules
		}
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
	return nil
}

// TestRun: roles that aggregate aggregated roles are filled, in spite of failures.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{roles: []*rbacv1.ClusterRole{
			role("a", "", "x"), role("b", "x", "y"), role("c", "y", "z"), role("d", "z", "", "get"),
		}, changed: make(chan struct{}, 1), fail: 3}
		m.changed <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		aggregation.New(m, nil).Run(ctx)
		for _, r := range m.roles {
			if diff := cmp.Diff([]rbacv1.PolicyRule{rule("get")}, r.Rules); diff != "" {
				t.Errorf("%s: %s", r.Name, diff)
			}
		}
	})
}
