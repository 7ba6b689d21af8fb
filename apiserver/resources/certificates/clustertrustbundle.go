package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// maxTrustBundle is the limit of a bundle in bytes (K pkg/apis/certificates/types.go: MaxTrustBundleSize).
const maxTrustBundle = 1 << 20

// clusterTrustBundles returns the entry of ClusterTrustBundle (V-002). The kind is stored as v1beta1, so that a server
// of the previous minor version, which has no v1, can read it.
func clusterTrustBundles() *entry.Resource {
	return &entry.Resource{
		Plural: "clustertrustbundles", New: entry.New[certificatesv1.ClusterTrustBundle],
		Storage: entry.Storage{
			Stored:     certificatesv1beta1.SchemeGroupVersion.WithKind("ClusterTrustBundle"),
			ToStored:   entry.Recast[certificatesv1beta1.ClusterTrustBundle],
			FromStored: entry.Recast[certificatesv1.ClusterTrustBundle],
		},
		Served: entry.Served{Optional: []entry.Version{
			{GroupVersion: certificatesv1beta1.SchemeGroupVersion, New: entry.New[certificatesv1beta1.ClusterTrustBundle]},
		}},
		Strategy: entry.Strategy{
			Conditional: true,
			Metadata:    entry.Metadata{NameOf: bundleName, Again: 1},
			Validate:    entry.ValidateChange(validateTrustBundle),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "spec.signerName"}}},
		Table: entry.Printed(
			[]entry.Column{
				entry.NameColumn,
				entry.Text("SignerName", certificatesv1.ClusterTrustBundleSpec{}.SwaggerDoc()["signerName"]),
			},
			func(b *certificatesv1.ClusterTrustBundle) []any {
				return []any{entry.StringOr(b.Spec.SignerName, entry.None)}
			}),
	}
}

// bundleName returns a function that requires a name with the signer's prefix. Without a signer, the name must not have
// a colon (K pkg/apis/core/validation: ValidateClusterTrustBundleName).
func bundleName(obj runtime.Object) apivalidation.ValidateNameFunc {
	signer := obj.(*certificatesv1.ClusterTrustBundle).Spec.SignerName
	return func(name string, prefix bool) []string {
		if signer == "" {
			if strings.Contains(name, ":") {
				return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
			}
			return apivalidation.NameIsDNSSubdomain(name, prefix)
		}
		begin := strings.ReplaceAll(signer, "/", ":") + ":"
		rest, found := strings.CutPrefix(name, begin)
		if !found {
			return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, begin)}
		}
		return apivalidation.NameIsDNSSubdomain(rest, prefix)
	}
}

// validateTrustBundle parses a bundle only if it changed: a stored bundle stays valid even if later parsers reject it.
func validateTrustBundle(b, old *certificatesv1.ClusterTrustBundle) field.ErrorList {
	at := field.NewPath("spec")
	errs := check.NonEmpty(b.Spec.SignerName, at.Child("signerName"), check.SignerName)
	if old == nil || b.Spec.TrustBundle != old.Spec.TrustBundle {
		errs = append(errs, trustAnchors(b.Spec.TrustBundle, at.Child("trustBundle"))...)
	}
	if old == nil {
		return errs
	}
	return append(errs, check.Immutable(b.Spec.SignerName, old.Spec.SignerName, at.Child("signerName"))...)
}

// trustAnchors requires PEM blocks of different CA certificates (V-078). It ignores text between the blocks.
func trustAnchors(text string, at *field.Path) (errs field.ErrorList) {
	if len(text) > maxTrustBundle {
		return field.ErrorList{field.TooLong(at, "", maxTrustBundle)}
	}
	wrong := func(format string, args ...any) {
		errs = append(errs, field.Invalid(at, "<value omitted>", fmt.Sprintf(format, args...)))
	}
	places := map[string][]int{}
	rest := []byte(text)
	for i := 0; ; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if what := anchor(block); what != "" {
			wrong("entry %d %s", i, what)
			continue
		}
		places[string(block.Bytes)] = append(places[string(block.Bytes)], i)
	}
	if len(errs) > 0 {
		return errs
	}
	if len(places) == 0 {
		wrong("at least one trust anchor must be provided")
	}
	for _, twice := range duplicates(places) {
		wrong("duplicate trust anchor (indices %v)", twice)
	}
	return errs
}

// anchor returns the reason why a block is not a trust anchor, or an empty string.
func anchor(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) > 0 {
		return "has PEM block headers"
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "does not parse as X.509"
	case !cert.IsCA:
		return "does not have the CA bit set"
	case !cert.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}

// duplicates returns the indices of each certificate that occurs more than once, sorted.
func duplicates(places map[string][]int) (twice [][]int) {
	for _, all := range places {
		if len(all) > 1 {
			twice = append(twice, all)
		}
	}
	slices.SortFunc(twice, slices.Compare[[]int])
	return twice
}
