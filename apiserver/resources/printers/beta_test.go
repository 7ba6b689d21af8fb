package printers

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
)

// TestBetaDescriptions compares the descriptions that are upstream's v1beta1 ones with those packages, which
// only this test links.
func TestBetaDescriptions(t *testing.T) {
	spec := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	for _, c := range []struct {
		columns []Column
		name    string
		want    string
	}{
		{clusterRoleBindingColumns(), "Role", rbacv1beta1.ClusterRoleBinding{}.SwaggerDoc()["roleRef"]},
		{roleBindingColumns(), "Role", rbacv1beta1.RoleBinding{}.SwaggerDoc()["roleRef"]},
		{signingRequestColumns(), "SignerName", spec["signerName"]},
		{signingRequestColumns(), "Requestor", spec["request"]},
		{signingRequestColumns(), "RequestedDuration", spec["expirationSeconds"]},
		{signingRequestColumns(), "Condition", certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()["conditions"]},
	} {
		i := slices.IndexFunc(c.columns, func(o Column) bool { return o.Name == c.name })
		if diff := cmp.Diff(c.want, c.columns[i].Description); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}
