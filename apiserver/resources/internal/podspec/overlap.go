package podspec

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// file is a path in a volume. If the volume has several sources, it also has the source.
type file struct{ path, source string }

// String returns the name of a file in warnings.
func (f file) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// mostCompared is the maximum number of files of a volume, and of ports of a pod, that are compared with each other.
const mostCompared = 1000

// overlapWarnings returns warnings for volumes in which two files have the same path, or the path of one is a directory
// of the other. It stops when a response has no space for more warnings.
func overlapWarnings(_ *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var l invalid.Warnings
	for i := range s.Volumes {
		v := &s.Volumes[i]
		alone := func(kind string, files []file) {
			compare(&l, fmt.Sprintf("volume %q (%s)", v.Name, kind), nil, files)
		}
		if c := v.ConfigMap; c != nil {
			alone(fmt.Sprintf("ConfigMap %q", c.Name), keyFiles(c.Items, ""))
		}
		if c := v.Secret; c != nil {
			alone(fmt.Sprintf("Secret %q", c.SecretName), keyFiles(c.Items, ""))
		}
		if d := v.DownwardAPI; d != nil {
			alone("DownwardAPI", downwardFiles(d.Items, ""))
		}
		if v.Projected == nil {
			continue
		}
		var before []file
		volume := fmt.Sprintf("volume %q (Projected)", v.Name)
		for i := range v.Projected.Sources {
			source := &v.Projected.Sources[i]
			if *source == (corev1.VolumeProjection{}) {
				l.Add(volume + " has no sources provided")
			}
			before = compare(&l, volume, before, projectedFiles(source))
		}
	}
	return l.Added()
}

// compare adds warnings for files that overlap with earlier ones: their paths are equal, or one is a directory of the
// other. It returns all files so far.
func compare(l *invalid.Warnings, volume string, before, files []file) []file {
	for _, f := range files {
		if f.path = strings.TrimRight(f.path, "/"); f.path == "" {
			continue
		}
		if l.Full() || len(before) == mostCompared {
			break
		}
		for _, other := range before {
			if within(f.path, other.path) || within(other.path, f.path) {
				l.Add(fmt.Sprintf("%s: overlapping paths: %v with %v", volume, f, other))
			}
		}
		before = append(before, f)
	}
	return before
}

// within reports whether a path is the directory or below it.
func within(path, directory string) bool {
	rest, ok := strings.CutPrefix(path, directory)
	return ok && (rest == "" || rest[0] == '/')
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
		name := cmp.Or(p.ClusterTrustBundle.Name, p.ClusterTrustBundle.SignerName)
		return []file{{p.ClusterTrustBundle.Path, fmt.Sprintf("ClusterTrustBundle %q", check.ValueOf(name))}}
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
