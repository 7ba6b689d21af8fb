package defaults

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRecorded compares the default objects with those that a real server created. A controller fills in the rules of
// aggregated roles, so these aren't compared.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile("../../../../conformance/recorded/data/bootstrap.json")
	if err != nil {
		t.Fatal(err)
	}
	var want Objects
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for _, r := range want.ClusterRoles {
		if r.AggregationRule != nil {
			r.Rules = nil
		}
	}
	options := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(metav1.TypeMeta{}),
		cmpopts.SortSlices(func(a, b *rbacv1.ClusterRole) bool { return a.Name < b.Name }),
		cmpopts.SortSlices(func(a, b *rbacv1.ClusterRoleBinding) bool { return a.Name < b.Name }),
		cmpopts.SortSlices(func(a, b *rbacv1.Role) bool { return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name }),
		cmpopts.SortSlices(func(a, b *rbacv1.RoleBinding) bool { return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name })}
	if d := cmp.Diff(&want, All(), options); d != "" {
		t.Errorf("policy.txt (-recorded +own):\n%s", d)
	}
}
