package podspec

import (
	"fmt"
	rand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// allOverlaps compares all pairs, as upstream does (pkg/api/pod/warnings.go: checkForOverlap).
func allOverlaps(volume string, before, files []file) (messages []string) {
	for i := range files {
		f := files[i]
		f.path = strings.TrimRight(f.path, "/")
		for _, other := range slices.Concat(before, files[:i]) {
			other.path = strings.TrimRight(other.path, "/")
			a, b := f.path+"/", other.path+"/"
			if a != "/" && b != "/" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) {
				messages = append(messages, fmt.Sprintf("%s: overlapping paths: %v with %v", volume, f, other))
			}
		}
	}
	return messages
}

// TestRandomOverlaps compares with all pairs.
func TestRandomOverlaps(t *testing.T) {
	seed := seed.Of(t)
	for i := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, i))
		sources := make([][]file, 1+r.IntN(3))
		for s := range sources {
			for range r.IntN(8) {
				var segments []string
				for range r.IntN(5) {
					segments = append(segments, []string{"a", "b", "a-b", "", "c"}[r.IntN(5)])
				}
				sources[s] = append(sources[s], file{strings.Join(segments, "/"), []string{"", "x", "y"}[r.IntN(3)]})
			}
		}
		y := newLayout(slices.Concat(sources...))
		var got, want invalid.Warnings
		var before []file
		for _, files := range sources {
			y.add(&got, "v", slices.Clone(files))
			for _, m := range allOverlaps("v", before, files) {
				want.Add(m)
			}
			before = append(before, files...)
		}
		if diff := cmp.Diff(want.Added(), got.Added()); diff != "" {
			t.Fatalf("seed %d, case %d: %q: want -, got +:\n%s", seed, i, sources, diff)
		}
	}
}

// TestRandomPorts compares with all pairs.
func TestRandomPorts(t *testing.T) {
	seed := seed.Of(t)
	for i := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, i))
		spec := &corev1.PodSpec{Containers: make([]corev1.Container, 1+r.IntN(3))}
		var want invalid.Warnings
		type definition struct {
			port *corev1.ContainerPort
			at   *field.Path
		}
		var before []definition
		for c := range spec.Containers {
			ports := make([]corev1.ContainerPort, r.IntN(10))
			spec.Containers[c].Ports = ports
			for j := range ports {
				p := &ports[j]
				*p = corev1.ContainerPort{
					ContainerPort: int32(1 + r.IntN(2)), HostPort: int32(r.IntN(4)),
					HostIP:   []string{"", "1.1.1.1", "2.2.2.2"}[r.IntN(3)],
					Protocol: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}[r.IntN(2)],
				}
				at := field.NewPath("spec", "containers").Index(c).Child("ports").Index(j)
				if p.HostIP != "" && p.HostPort == 0 {
					want.Add(fmt.Sprintf("%s: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:%d Protocol:%s HostIP:%s}",
						at, p.ContainerPort, p.Protocol, p.HostIP))
				}
				for _, other := range before {
					how := clash(p, other.port)
					if p.ContainerPort == other.port.ContainerPort && p.Protocol == other.port.Protocol && how != "" {
						want.Add(fmt.Sprintf("%s: %s port definition with %s", at, how, other.at))
					}
				}
				before = append(before, definition{p, at})
			}
		}
		if diff := cmp.Diff(want.Added(), portWarnings(nil, spec, nil)); diff != "" {
			t.Fatalf("seed %d, case %d: want -, got +:\n%s", seed, i, diff)
		}
	}
}

// TestManyPairs warns of pods in which all pairs of a hundred thousand files, or ports, would have to be compared,
// and in some told. It ends at once if that is linear, and would take hours and all memory if it were not.
func TestManyPairs(t *testing.T) {
	const n = 100_000
	items := func(path func(i int) string) []corev1.Volume {
		keys := make([]corev1.KeyToPath, n)
		for i := range keys {
			keys[i].Path = path(i)
		}
		return []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{Items: keys}}},
		}
	}
	ports := func(port func(i int) corev1.ContainerPort) []corev1.Container {
		list := make([]corev1.ContainerPort, n)
		for i := range list {
			list[i] = port(i)
		}
		return []corev1.Container{{Name: "c", Ports: list}}
	}
	for name, spec := range map[string]*corev1.PodSpec{
		"same path":      {Volumes: items(func(int) string { return "a" })},
		"other paths":    {Volumes: items(func(i int) string { return fmt.Sprint(i) })},
		"one directory":  {Volumes: items(func(i int) string { return []string{"a", fmt.Sprint("a/", i)}[min(i, 1)] })},
		"directory last": {Volumes: items(func(i int) string { return []string{fmt.Sprint("a/", i), "a"}[i/(n-1)] })},
		"two in turn":    {Volumes: items(func(i int) string { return []string{"a", fmt.Sprint(i)}[i%2] })},
		"same port": {Containers: ports(func(int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: 1}
		})},
		"hosts' ports": {Containers: ports(func(i int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: 1, HostPort: int32(i + 1)}
		})},
		"hosts' IPs": {Containers: ports(func(i int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: 1, HostPort: 1, HostIP: fmt.Sprint(i)}
		})},
		"IPs of no ports": {Containers: ports(func(i int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: int32(i), HostIP: "1.1.1.1"}
		})},
	} {
		if got := len(SpecWarnings(nil, spec, &metav1.ObjectMeta{})); got > 2*invalid.MaxWarningRunes {
			t.Errorf("%s: %d warnings", name, got)
		}
	}
}
