package podspec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// file is a path in a volume and, if the volume has several sources, its source.
type file struct{ path, source string }

// String is the name of a file in warnings.
func (f file) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// overlapWarnings are for volumes in which two files have the same path, or one has the path of another one's
// directory. They stop when no more would be sent.
func overlapWarnings(_ *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var l invalid.Warnings
	for i := range s.Volumes {
		v := &s.Volumes[i]
		alone := func(kind string, files []file) {
			newLayout(files).add(&l, fmt.Sprintf("volume %q (%s)", v.Name, kind), files)
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
		if v.Projected != nil {
			projectedOverlaps(&l, fmt.Sprintf("volume %q (Projected)", v.Name), v.Projected.Sources)
		}
	}
	return l.Added()
}

// projectedOverlaps compares the files of all sources of a volume.
func projectedOverlaps(l *invalid.Warnings, volume string, sources []corev1.VolumeProjection) {
	files := make([][]file, len(sources))
	for i := range sources {
		files[i] = projectedFiles(&sources[i])
	}
	all := newLayout(slices.Concat(files...))
	for i := range sources {
		if sources[i] == (corev1.VolumeProjection{}) {
			l.Add(volume + " has no sources provided")
		}
		all.add(l, volume, files[i])
	}
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

// layout finds the overlapping files of a volume without comparing all pairs, as a client may send a hundred thousand
// files. Two files overlap if their paths are equal, or one is a directory of the other.
type layout struct {
	places map[string]*place
	// files is the number of added files.
	files int
}

// add adds files. For each it warns of the files before it with which it overlaps, in their order.
func (y *layout) add(l *invalid.Warnings, volume string, files []file) {
	for _, f := range files {
		f.path = trimmed(f.path)
		if f.path == "" {
			continue
		}
		if l.Full() {
			return
		}
		at := y.places[f.path]
		i := slices.IndexFunc(at.here, func(p *known) bool { return p.source == f.source })
		p := &known{file: f, at: at, order: y.files, seen: -1}
		if i >= 0 {
			p = at.here[i]
		}
		if p.seen < at.changes {
			p.seen = at.changes
			p.warn(l, volume)
		}
		if i < 0 {
			p.enter()
			y.files++
		}
	}
}

// place is one path.
type place struct {
	// above is the nearest path of the volume that is a directory of this one; nil for none.
	above *place
	// here are the files with this path, below those in it as a directory; each path and source once.
	here, below []*known
	// changes counts the files that were added here, above and below.
	changes int
}

// known is a file that was added.
type known struct {
	file
	at *place
	// order is the number of files before it; seen is at.changes when its overlaps were last reported.
	order, seen int
}

// warn reports the files that overlap with p.
func (p *known) warn(l *invalid.Warnings, volume string) {
	others := slices.Concat(p.at.here, p.at.below)
	for a := p.at.above; a != nil; a = a.above {
		others = append(others, a.here...)
	}
	slices.SortFunc(others, func(a, b *known) int { return cmp.Compare(a.order, b.order) })
	for _, other := range others {
		if l.Full() {
			return
		}
		l.Add(fmt.Sprintf("%s: overlapping paths: %v with %v", volume, p.file, other.file))
	}
}

// enter adds p to its place and to those above and below.
func (p *known) enter() {
	for _, b := range p.at.below {
		b.at.changes++
	}
	p.at.here = append(p.at.here, p)
	p.at.changes++
	for a := p.at.above; a != nil; a = a.above {
		a.below = append(a.below, p)
		a.changes++
	}
}

// newLayout makes the places of all files that will be added.
func newLayout(files []file) *layout {
	y := &layout{places: map[string]*place{}}
	var paths []string // with a trailing slash, so that a directory is sorted right before its content
	for _, f := range files {
		if p := trimmed(f.path); p != "" && y.places[p] == nil {
			y.places[p] = &place{}
			paths = append(paths, p+"/")
		}
	}
	slices.Sort(paths)
	var open []string // the previous path and its directories, the innermost last
	for _, p := range paths {
		for len(open) > 0 && !strings.HasPrefix(p, open[len(open)-1]) {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			y.places[trimmed(p)].above = y.places[trimmed(open[len(open)-1])]
		}
		open = append(open, p)
	}
	return y
}

func trimmed(path string) string { return strings.TrimRight(path, "/") }
