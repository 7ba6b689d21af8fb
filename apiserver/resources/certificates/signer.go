package certificates

import (
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// MaySignFor reports whether a user has the permission verb for the signer, or for all of its domain (K
// pkg/certauthorization: IsAuthorizedForSignerName).
func MaySignFor(may entry.May, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	return slices.ContainsFunc([]string{signer, domain + "/*"}, func(name string) bool {
		return may(certificatesv1.GroupName, "signers", verb, name)
	})
}
