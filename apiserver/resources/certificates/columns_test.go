package certificates

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// TestBetaDescriptionsOfRequests: the descriptions that upstream prints from v1beta1 are those of its package, which
// only this test imports.
func TestBetaDescriptionsOfRequests(t *testing.T) {
	spec := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	for _, c := range []struct {
		columns []entry.Column
		name    string
		want    string
	}{
		{signingRequestTable().Columns, "SignerName", spec["signerName"]},
		{signingRequestTable().Columns, "Requestor", spec["request"]},
		{signingRequestTable().Columns, "RequestedDuration", spec["expirationSeconds"]},
		{
			signingRequestTable().Columns, "Condition",
			certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()["conditions"],
		},
	} {
		i := slices.IndexFunc(c.columns, func(o entry.Column) bool { return o.Name == c.name })
		if diff := cmp.Diff(c.want, c.columns[i].Description); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}
