package rbac

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// TestBetaDescriptions: the descriptions that upstream prints from v1beta1 are those of its package, which only this
// test imports.
func TestBetaDescriptions(t *testing.T) {
	for _, c := range []struct {
		columns []entry.Column
		name    string
		want    string
	}{
		{clusterRoleBindings().Table.Columns, "Role", rbacv1beta1.ClusterRoleBinding{}.SwaggerDoc()["roleRef"]},
		{roleBindings().Table.Columns, "Role", rbacv1beta1.RoleBinding{}.SwaggerDoc()["roleRef"]},
	} {
		i := slices.IndexFunc(c.columns, func(o entry.Column) bool { return o.Name == c.name })
		if diff := cmp.Diff(c.want, c.columns[i].Description); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}
