package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func (r *Rules) projectedVolume(s *corev1.ProjectedVolumeSource, at *field.Path) field.ErrorList {
	errs := FileMode(s.DefaultMode, at.Child("defaultMode"))
	p := projection{at: at, seen: map[string]bool{}}
	for i := range s.Sources {
		errs = append(errs, r.projectedSource(&p, &s.Sources[i], at.Child("sources").Index(i))...)
	}
	return errs
}

// projection has the files of one volume so far.
type projection struct {
	at   *field.Path
	seen map[string]bool
}

// put rejects a file that exists already; value is the value in the error message.
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

func (r *Rules) projectedSource(p *projection, s *corev1.VolumeProjection, at *field.Path) (errs field.ErrorList) {
	found := 0
	if s.Secret != nil {
		found++
		errs = append(errs, p.keys(s.Secret.Name, s.Secret.Items, at.Child("secret"))...)
	}
	if s.ConfigMap != nil {
		found++
		errs = append(errs, p.keys(s.ConfigMap.Name, s.ConfigMap.Items, at.Child("configMap"))...)
	}
	if s.DownwardAPI != nil {
		found++
		for i := range s.DownwardAPI.Items {
			file := &s.DownwardAPI.Items[i]
			errs = append(errs, downwardFile(file, at.Child("downwardAPI"))...)
			errs = append(errs, p.put(file.Path, file.Path)...)
		}
	}
	if s.ServiceAccountToken != nil {
		found++
		errs = append(errs, r.tokenSource(s.ServiceAccountToken, p.at, at.Child("serviceAccountToken"))...)
	}
	if s.ClusterTrustBundle != nil {
		found++
		errs = append(errs, p.trustBundle(s.ClusterTrustBundle, at.Child("clusterTrustBundlePEM"))...) // upstream's name
	}
	if s.PodCertificate != nil {
		found++
		errs = append(errs, p.podCertificate(s.PodCertificate, at.Child("podCertificate"))...)
	}
	if found > 1 {
		errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type per source"))
	}
	return errs
}

// tokenSource reports paths below the volume instead of below the source, as upstream does.
func (r *Rules) tokenSource(s *corev1.ServiceAccountTokenProjection, volume, at *field.Path) (errs field.ErrorList) {
	var seconds int64
	if s.ExpirationSeconds != nil {
		seconds = *s.ExpirationSeconds
	}
	if seconds < 10*60 {
		errs = append(errs, field.Invalid(at.Child("expirationSeconds"), seconds,
			"may not specify a duration less than 10 minutes"))
	}
	if seconds > 1<<32 {
		errs = append(errs, field.Invalid(at.Child("expirationSeconds"), seconds,
			"may not specify a duration larger than 2^32 seconds"))
	}
	switch {
	case s.Path == "":
		errs = append(errs, check.RequireAll(volume, "path", "")...)
	case !r.had.oddTokenPaths:
		errs = append(errs, ProjectedPath(s.Path, volume.Child("path"))...)
	}
	return errs
}

func downwardVolume(s *corev1.DownwardAPIVolumeSource, at *field.Path) field.ErrorList {
	errs := FileMode(s.DefaultMode, at.Child("defaultMode"))
	for i := range s.Items {
		errs = append(errs, downwardFile(&s.Items[i], at)...)
	}
	return errs
}

// volumeFields are the fields that a file can contain.
var volumeFields = []string{
	"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
}

func downwardFile(f *corev1.DownwardAPIVolumeFile, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "path", f.Path), ProjectedPath(f.Path, at.Child("path"))...)
	switch {
	case f.FieldRef != nil:
		errs = append(errs, fieldRef(f.FieldRef, volumeFields, at.Child("fieldRef"))...)
		if f.ResourceFieldRef != nil {
			errs = append(errs, field.Invalid(at, "resource",
				"fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case f.ResourceFieldRef != nil:
		errs = append(errs, resourceRef(f.ResourceFieldRef, at.Child("resourceFieldRef"), true)...)
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

// TemplateMeta allows only labels and annotations, as other fields would have no effect.
func TemplateMeta(m *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(m.Annotations, at.Child("annotations"))
	errs = append(errs, v1validation.ValidateLabels(m.Labels, at.Child("labels"))...)
	return append(errs, onlyFields(*m, "cannot be set", at, "Annotations", "Labels")...)
}

// capitalFree is a Go field's name in a path, as upstream has it: only the first letter changes.
func capitalFree(name string) string { return strings.ToLower(name[:1]) + name[1:] }
