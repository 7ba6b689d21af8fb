package bootstrap

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// added are what v1.37 adds to the objects that v1.36.3 created (V-112). A rule follows the rule of its role after
// which it is inserted.
const added = `ClusterRole system:cluster-trust-bundle-discovery
	get,list,watch certificates.k8s.io clustertrustbundles
ClusterRole system:controller:device-taint-eviction-controller
	create,patch,update core,events.k8s.io events
	patch,update resource.k8s.io devicetaintrules/status
	get,list,watch resource.k8s.io devicetaintrules
ClusterRole system:controller:kube-apiserver-serving-clustertrustbundle-publisher
	attest certificates.k8s.io signers kubernetes.io/kube-apiserver-serving
	create,delete,list,update,watch certificates.k8s.io clustertrustbundles
	create,patch,update core,events.k8s.io events
ClusterRole system:controller:podcertificaterequestcleaner
	delete,get,list,watch certificates.k8s.io podcertificaterequests
ClusterRole system:controller:storage-version-migrator-controller
	create,list,patch * *
	update storagemigration.k8s.io storageversionmigrations/status
ClusterRole system:kube-scheduler
	create,delete resource.k8s.io resourceclaims
	get,list,watch resource.k8s.io devicetaintrules
ClusterRole system:node
	deletecollection resource.k8s.io resourceslices
	get,list,watch certificates.k8s.io clustertrustbundles
	get core serviceaccounts
	create,get,list,watch certificates.k8s.io podcertificaterequests
ClusterRoleBinding system:cluster-trust-bundle-discovery ` +
	`ClusterRole=system:cluster-trust-bundle-discovery Group=system:serviceaccounts
ClusterRoleBinding system:controller:kube-apiserver-serving-clustertrustbundle-publisher ` +
	`ClusterRole=system:controller:kube-apiserver-serving-clustertrustbundle-publisher ` +
	`ServiceAccount=kube-system/kube-apiserver-serving-clustertrustbundle-publisher
ClusterRoleBinding system:controller:podcertificaterequestcleaner ` +
	`ClusterRole=system:controller:podcertificaterequestcleaner ` +
	`ServiceAccount=kube-system/podcertificaterequestcleaner
ClusterRoleBinding system:controller:storage-version-migrator-controller ` +
	`ClusterRole=system:controller:storage-version-migrator-controller ` +
	`ServiceAccount=kube-system/storage-version-migrator-controller
`

// withAdded adds to the recorded objects. A rule that the role already has marks the position of the rules that follow
// it.
func withAdded(t *testing.T, o *RoleObjects) {
	t.Helper()
	more := parse(added)
	o.ClusterRoleBindings = append(o.ClusterRoleBindings, more.ClusterRoleBindings...)
	for _, r := range more.ClusterRoles {
		at := slices.IndexFunc(o.ClusterRoles, func(other *rbacv1.ClusterRole) bool { return other.Name == r.Name })
		if at < 0 {
			o.ClusterRoles = append(o.ClusterRoles, r)
			continue
		}
		rules, place := &o.ClusterRoles[at].Rules, -1
		for _, rule := range r.Rules {
			is := slices.IndexFunc(*rules, func(other rbacv1.PolicyRule) bool {
				return cmp.Equal(rule, other, cmpopts.EquateEmpty())
			})
			if is >= 0 {
				place = is
				continue
			}
			place++
			*rules = slices.Insert(*rules, place, rule)
		}
	}
}

// TestDefaultRolesEqualRecordedOnes compares the default objects with those that a real server of v1.36 created, and
// what v1.37 adds (V-112). A controller fills in the rules of aggregated roles, so these aren't compared.
func TestDefaultRolesEqualRecordedOnes(t *testing.T) {
	data, err := os.ReadFile("../../conformance/recorded/data/bootstrap.json")
	if err != nil {
		t.Fatal(err)
	}
	var want RoleObjects
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	withAdded(t, &want)
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
	if d := cmp.Diff(&want, DefaultRoles(), options); d != "" {
		t.Errorf("policy.txt (-recorded +own):\n%s", d)
	}
}
