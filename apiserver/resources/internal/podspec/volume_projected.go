package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func (r *Rules) projectedVolume(s *corev1.ProjectedVolumeSource, at *field.Path) field.ErrorList {
	p := projection{rules: r, at: at, seen: map[string]bool{}}
	return append(FileMode(s.DefaultMode, at.Child("defaultMode")),
		check.Each(s.Sources, at.Child("sources"), p.source)...)
}

// projection has the files of one volume that have been validated.
type projection struct {
	rules *Rules
	at    *field.Path
	seen  map[string]bool
}

// put rejects a file that already exists. value is the value in the error.
func (p *projection) put(path, value string) field.ErrorList {
	if path == "" {
		return nil
	}
	if p.seen[path] {
		return field.ErrorList{field.Invalid(p.at, value, "conflicting duplicate paths")}
	}
	p.seen[path] = true
	return nil
}

func (p *projection) keys(name string, items []corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "name", name)
	for i := range items {
		errs = append(errs, KeyToPath(&items[i], at.Child("items").Index(i))...)
		errs = append(errs, p.put(items[i].Path, name)...)
	}
	return errs
}

func (p *projection) source(s *corev1.VolumeProjection, at *field.Path) field.ErrorList {
	errs, found := validateEach([]alternative{
		alternativeOf("secret", s.Secret, func(s *corev1.SecretProjection, at *field.Path) field.ErrorList {
			return p.keys(s.Name, s.Items, at)
		}),
		alternativeOf("configMap", s.ConfigMap, func(c *corev1.ConfigMapProjection, at *field.Path) field.ErrorList {
			return p.keys(c.Name, c.Items, at)
		}),
		alternativeOf("downwardAPI", s.DownwardAPI, p.downward),
		alternativeOf("serviceAccountToken", s.ServiceAccountToken, p.token),
		alternativeOf("clusterTrustBundlePEM", s.ClusterTrustBundle, p.trustBundle), // the name in upstream's paths
		alternativeOf("podCertificate", s.PodCertificate, p.podCertificate),
	}, at)
	return append(errs, check.Forbid(found > 1, at, "may not specify more than 1 volume type per source")...)
}

func (p *projection) downward(s *corev1.DownwardAPIProjection, at *field.Path) (errs field.ErrorList) {
	for i := range s.Items {
		errs = append(errs, downwardFile(&s.Items[i], at)...)
		errs = append(errs, p.put(s.Items[i].Path, s.Items[i].Path)...)
	}
	return errs
}

// token validates a token. As in upstream, the paths of its errors are those of the volume, not of the source.
func (p *projection) token(s *corev1.ServiceAccountTokenProjection, at *field.Path) field.ErrorList {
	seconds, at := check.ValueOf(s.ExpirationSeconds), at.Child("expirationSeconds")
	errs := check.Reject(seconds < 10*60, at, seconds, "may not specify a duration less than 10 minutes")
	errs = append(errs, check.Reject(seconds > 1<<32, at, seconds,
		"may not specify a duration larger than 2^32 seconds")...)
	if s.Path != "" && p.rules.had.invalidTokenPaths {
		return errs
	}
	return append(errs, check.Needed(s.Path, p.at.Child("path"), ProjectedPath)...)
}

func downwardVolume(s *corev1.DownwardAPIVolumeSource, at *field.Path) field.ErrorList {
	errs := FileMode(s.DefaultMode, at.Child("defaultMode"))
	for i := range s.Items {
		errs = append(errs, downwardFile(&s.Items[i], at)...)
	}
	return errs
}

// volumeFields are the fields of a pod that a file can contain.
var volumeFields = []string{
	"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
}

func downwardFile(f *corev1.DownwardAPIVolumeFile, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "path", f.Path), ProjectedPath(f.Path, at.Child("path"))...)
	switch {
	case f.FieldRef != nil:
		errs = append(errs, fieldRef(volumeFields)(f.FieldRef, at.Child("fieldRef"))...)
		errs = append(errs, check.Reject(f.ResourceFieldRef != nil, at, "resource",
			"fieldRef and resourceFieldRef can not be specified simultaneously")...)
	case f.ResourceFieldRef != nil:
		errs = append(errs, resourceRefInVolume(f.ResourceFieldRef, at.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, FileMode(f.Mode, at.Child("mode"))...)
}

// ephemeralVolume validates the template of a generated claim.
func ephemeralVolume(s *corev1.EphemeralVolumeSource, at *field.Path) field.ErrorList {
	at = at.Child("volumeClaimTemplate")
	if s.VolumeClaimTemplate == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := TemplateMeta(&s.VolumeClaimTemplate.ObjectMeta, at.Child("metadata"))
	return append(errs, ValidateClaimSpec(&s.VolumeClaimTemplate.Spec, nil, at.Child("spec"))...)
}

// TemplateMeta allows only labels and annotations, because other fields would have no effect.
func TemplateMeta(m *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(m.Annotations, at.Child("annotations"))
	errs = append(errs, metav1validation.ValidateLabels(m.Labels, at.Child("labels"))...)
	return append(errs, onlyFields(*m, "cannot be set", at, "Annotations", "Labels")...)
}

// trustBundle validates a file with the trust anchors of one bundle, or of the bundles of a signer (V-031).
func (p *projection) trustBundle(s *corev1.ClusterTrustBundleProjection, at *field.Path) (errs field.ErrorList) {
	switch {
	case s.Name != nil && s.SignerName != nil:
		errs = append(errs, field.Invalid(at, s, "only one of name and signerName may be used"))
	case s.Name != nil:
		errs = append(errs, check.Present(*s.Name != "", at.Child("name"), "must be a valid object name")...)
		for _, text := range check.TrustBundleName(*s.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), *s.Name,
				fmt.Sprintf("not a valid clustertrustbundlename: %v", text)))
		}
		errs = append(errs, check.Reject(s.LabelSelector != nil, at.Child("labelSelector"), s.LabelSelector,
			"labelSelector must be unset if name is specified")...)
	case s.SignerName != nil:
		errs = append(errs, check.Present(*s.SignerName != "", at.Child("signerName"), "must be a valid signer name")...)
		errs = append(errs, check.SignerName(*s.SignerName, at.Child("signerName"))...)
		errs = append(errs, ValidateSelector(s.LabelSelector, false, at.Child("labelSelector"))...)
	default:
		errs = append(errs, field.Required(at, "either name or signerName must be specified"))
	}
	errs = append(errs, check.Present(s.Path != "", at.Child("path"), "")...)
	errs = append(errs, ProjectedPath(s.Path, at.Child("path"))...)
	errs = append(errs, check.Reject(s.Path == "" && p.seen[""], p.at, "", "conflicting duplicate paths")...)
	p.seen[""] = p.seen[""] || s.Path == ""
	return append(errs, p.put(s.Path, s.Path)...)
}

// keyTypes are the types of keys for which a pod may get a certificate.
var keyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

// Limits of the lifetime of a pod's certificate, in seconds.
const (
	leastCertificate      = 3600
	mostCertificate       = 91 * 24 * 3600
	kubernetesCertificate = 24 * 3600
)

// podCertificate validates the files for a key and its certificate (V-031).
func (p *projection) podCertificate(s *corev1.PodCertificateProjection, at *field.Path) field.ErrorList {
	errs := check.SignerName(s.SignerName, at.Child("signerName"))
	errs = append(errs, check.OneOf(s.KeyType, at.Child("keyType"), keyTypes)...)
	if n := s.MaxExpirationSeconds; n != nil {
		most := int32(mostCertificate)
		if check.OfKubernetes(s.SignerName) {
			most = kubernetesCertificate
		}
		const must = "if provided, maxExpirationSeconds must be "
		errs = append(errs, check.Reject(*n < leastCertificate, at.Child("maxExpirationSeconds"), n,
			fmt.Sprintf(must+">= %d", leastCertificate))...)
		errs = append(errs, check.Reject(*n > most, at.Child("maxExpirationSeconds"), n, fmt.Sprintf(must+"<= %d", most))...)
	}
	found := false
	for _, f := range []struct{ name, path string }{
		{"credentialBundlePath", s.CredentialBundlePath}, {"keyPath", s.KeyPath},
		{"certificateChainPath", s.CertificateChainPath},
	} {
		if f.path == "" {
			continue
		}
		found = true
		errs = append(errs, ProjectedPath(f.path, at.Child(f.name))...)
		errs = append(errs, p.put(f.path, f.path)...)
	}
	errs = append(errs, check.Present(found, at,
		"specify at least one of credentialBundlePath, keyPath, and certificateChainPath")...)
	return append(errs, check.UserAnnotations(s.UserAnnotations, at.Child("userAnnotations"))...)
}
