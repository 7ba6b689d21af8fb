package prepare

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// file is a path in a volume and, if the volume has several sources, whose it is.
type file struct{ path, source string }

// String is how warnings name a file.
func (f file) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// overlapWarnings are about volumes in which two files would stand in one place, or one where
// another needs a directory.
func overlapWarnings(_ *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var texts []string
	for i := range s.Volumes {
		v := &s.Volumes[i]
		if c := v.ConfigMap; c != nil {
			texts = append(texts, overlaps(v.Name, fmt.Sprintf("ConfigMap %q", c.Name), nil, keyFiles(c.Items, ""))...)
		}
		if c := v.Secret; c != nil {
			texts = append(texts, overlaps(v.Name, fmt.Sprintf("Secret %q", c.SecretName), nil, keyFiles(c.Items, ""))...)
		}
		if d := v.DownwardAPI; d != nil {
			texts = append(texts, overlaps(v.Name, "DownwardAPI", nil, downwardFiles(d.Items, ""))...)
		}
		if v.Projected == nil {
			continue
		}
		var before []file
		for j := range v.Projected.Sources {
			p := &v.Projected.Sources[j]
			if *p == (corev1.VolumeProjection{}) {
				texts = append(texts, fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
				continue
			}
			files := projectedFiles(p)
			texts = append(texts, overlaps(v.Name, "Projected", before, files)...)
			before = append(before, files...)
		}
	}
	return texts
}

func keyFiles(items []corev1.KeyToPath, source string) []file {
	var files []file
	for _, item := range items {
		files = append(files, file{item.Path, source})
	}
	return files
}

func downwardFiles(items []corev1.DownwardAPIVolumeFile, source string) []file {
	var files []file
	for _, item := range items {
		files = append(files, file{item.Path, source})
	}
	return files
}

func projectedFiles(p *corev1.VolumeProjection) []file {
	switch {
	case p.ConfigMap != nil && p.ConfigMap.Items != nil:
		return keyFiles(p.ConfigMap.Items, fmt.Sprintf("ConfigMap %q", p.ConfigMap.Name))
	case p.Secret != nil && p.Secret.Items != nil:
		return keyFiles(p.Secret.Items, fmt.Sprintf("Secret %q", p.Secret.Name))
	case p.DownwardAPI != nil && p.DownwardAPI.Items != nil:
		return downwardFiles(p.DownwardAPI.Items, "DownwardAPI")
	case p.ServiceAccountToken != nil:
		return []file{{p.ServiceAccountToken.Path, "ServiceAccountToken"}}
	case p.ClusterTrustBundle != nil:
		name := p.ClusterTrustBundle.Name
		if name == nil {
			name = p.ClusterTrustBundle.SignerName
		}
		return []file{{p.ClusterTrustBundle.Path, fmt.Sprintf("ClusterTrustBundle %q", value(name))}}
	case p.PodCertificate != nil:
		var files []file
		for _, f := range []file{
			{p.PodCertificate.CertificateChainPath, "PodCertificate chain"},
			{p.PodCertificate.KeyPath, "PodCertificate key"},
			{p.PodCertificate.CredentialBundlePath, "PodCertificate credential bundle"},
		} {
			if f.path != "" {
				files = append(files, f)
			}
		}
		return files
	}
	return nil
}

// overlaps compares every file with those before it, in other sources and in its own.
func overlaps(volume, kind string, before, files []file) []string {
	var texts []string
	for i := range files {
		f := &files[i]
		f.path = strings.TrimRight(f.path, "/")
		for _, other := range slices.Concat(before, files[:i]) {
			if f.path != "" && other.path != "" && within(f.path, other.path) {
				texts = append(texts, fmt.Sprintf("volume %q (%s): overlapping paths: %v with %v", volume, kind, *f, other))
			}
		}
	}
	return texts
}

func within(a, b string) bool {
	a, b = a+"/", b+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
