package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SignerName requires a domain and a path (core ValidateSignerName).
func SignerName(name string, at *field.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	domain, path, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(path, "/") {
		return field.ErrorList{
			field.Invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
		}
	}
	errs = append(errs, MaxBytes(len(domain), utilvalidation.DNS1123SubdomainMaxLength, at)...)
	errs = append(errs, signerLabels(domain, utilvalidation.IsDNS1123Label, at)...)
	errs = append(errs, Reject(!strings.Contains(domain, "."), at, domain,
		"should be a domain with at least two segments separated by dots")...)
	errs = append(errs, signerLabels(path, utilvalidation.IsDNS1123Subdomain, at)...)
	const limit = 2*utilvalidation.DNS1123SubdomainMaxLength + utilvalidation.DNS1123LabelMaxLength + 2
	return append(errs, MaxBytes(len(name), limit, at)...)
}

// signerLabels returns the errors of the first invalid label.
func signerLabels(part string, is func(string) []string, at *field.Path) (errs field.ErrorList) {
	for _, l := range strings.Split(part, ".") {
		if texts := is(l); len(texts) > 0 {
			for _, text := range texts {
				errs = append(errs, field.Invalid(at, part, fmt.Sprintf("validating label %q: %s", l, text)))
			}
			return errs
		}
	}
	return nil
}

// OfKubernetes reports whether a signer is in Kubernetes' domain or below it (core IsKubernetesSignerName).
func OfKubernetes(signer string) bool {
	const own = "kubernetes.io"
	domain, _, _ := strings.Cut(signer, "/")
	return domain == own || strings.HasSuffix(domain, "."+own)
}

// TrustBundleName returns the errors of the name of a ClusterTrustBundle, which may begin with its signer (core
// ValidateClusterTrustBundleName, extractSignerNameFromClusterTrustBundleName).
func TrustBundleName(name string) []string {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	return apivalidation.NameIsDNSSubdomain(name, false)
}

// UserAnnotations requires keys with a domain, in upper or lower case.
func UserAnnotations(all map[string]string, at *field.Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		errs = append(errs, utilvalidation.IsDomainPrefixedKey(at, strings.ToLower(key))...)
	}
	if apivalidation.ValidateAnnotationsSize(all) != nil {
		errs = append(errs, field.TooLong(at, "", apivalidation.TotalAnnotationSizeLimitB))
	}
	return errs
}
