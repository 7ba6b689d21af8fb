package resources

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The versions of each stage that this server does not have.
const (
	absentBeta  = "coordination.k8s.io/v1beta1,scheduling.k8s.io/v1beta1"
	absentAlpha = "coordination.k8s.io/v1alpha2,internal.apiserver.k8s.io/v1alpha1,lifecycle.k8s.io/v1alpha1," +
		"resource.k8s.io/v1alpha3,scheduling.k8s.io/v1alpha3"
)

// TestRuntimeConfigSelectsVersions: values of --runtime-config add versions to the default ones, and remove versions.
func TestRuntimeConfigSelectsVersions(t *testing.T) {
	normal := paths(nil)
	for _, c := range []struct {
		pairs string
		// more and less are parts of the paths of group versions and resources that are added and removed.
		more, less []string
		absent     string
		err        string
	}{
		{pairs: ""},
		{pairs: "api/ga=true"},
		{pairs: "resource.k8s.io/v1beta2=true", more: []string{"resource.k8s.io/v1beta2/"}},
		{pairs: "resource.k8s.io/v1beta2", more: []string{"resource.k8s.io/v1beta2/"}},
		{pairs: "resource.k8s.io/v1beta1/resourceclaims=1", more: []string{"resource.k8s.io/v1beta1/resourceclaims"}},
		{pairs: "api/beta=true", more: []string{"beta"}, absent: absentBeta},
		{pairs: "api/alpha=true", more: []string{"alpha"}, absent: absentAlpha},
		{pairs: "api/all=true,scheduling.k8s.io/v1beta1=false", more: []string{"alpha", "beta"},
			absent: strings.Replace(absentBeta, ",scheduling.k8s.io/v1beta1", ","+absentAlpha, 1)},
		{pairs: "api/all=true,api/alpha=false", more: []string{"beta"}, absent: absentBeta},
		{
			pairs:  "api/beta=true,storagemigration.k8s.io/v1beta1=false",
			absent: absentBeta,
			more: []string{
				"admissionregistration.k8s.io/v1beta1/", "certificates.k8s.io/v1beta1/", "resource.k8s.io/v1beta",
			},
		},
		{pairs: "resource.k8s.io/v1beta2=true,resource.k8s.io/v1beta2=false"},
		{pairs: "resource.k8s.io/v1beta2=true,resource.k8s.io/v1beta2/deviceclasses=false",
			more: []string{"resource.k8s.io/v1beta2/devicetaintrules", "resource.k8s.io/v1beta2/resource"}},
		{pairs: "batch/v1=false", less: []string{"batch/v1/"}},
		{pairs: "batch/v1/cronjobs=false", less: []string{"batch/v1/cronjobs"}},
		{pairs: "api/all=false,apps/v1=true,/v1=true", less: slices.DeleteFunc(slices.Clone(normal), func(p string) bool {
			return strings.HasPrefix(p, "apps/v1/") || strings.HasPrefix(p, "/v1/")
		})},
		{pairs: "certificates.k8s.io/v1beta1=true,coordination.k8s.io/v1alpha2=true,batch/v1beta1=true,events.k8s.io/v1beta1=false,v1=true",
			more:   []string{"certificates.k8s.io/v1beta1/clustertrustbundles"},
			absent: "batch/v1beta1,coordination.k8s.io/v1alpha2"},
		{pairs: "networking.k8s.io/v1beta1=true,storage.k8s.io/v1beta1=true", // removed in v1.37 (V-130)
			absent: "networking.k8s.io/v1beta1,storage.k8s.io/v1beta1"},
		{pairs: "scheduling.k8s.io/v1alpha3/workloads=true", absent: "scheduling.k8s.io/v1alpha3/workloads"},

		{pairs: "api/all=false", err: "api/all=false alone leaves nothing"},
		{pairs: "api/all=yes", err: "api/all=yes: the value is neither true nor false"},
		{pairs: "api/beta", err: "api/beta=: the value is neither true nor false"},
		{pairs: "apps/v1=on", err: "apps/v1=on: the value is neither true nor false"},
		{pairs: "nope/v1=true", err: `"nope/v1": unknown API group "nope"; the groups are admission.k8s.io, `},
		{
			pairs: "resource.k8s.io/v9=true",
			err:   `"resource.k8s.io/v9": unknown version "v9"; resource.k8s.io has v1, v1beta2, v1beta1, v1alpha3`,
		},
		{pairs: "batch/v1/Jobs=false", err: `"batch/v1/Jobs": batch/v1 has no resource "Jobs"`},
		{pairs: "apps=true", err: `"apps" is neither <group>/<version>, `},
		{pairs: "a/b/c/d", err: `"a/b/c/d" is neither <group>/<version>, `},
		{pairs: "=true", err: `"" is neither <group>/<version>, `},
	} {
		var words []string
		if c.pairs != "" {
			words = strings.Split(c.pairs, ",")
		}
		s, absent, err := ParseServing(words)
		if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.pairs, err, c.err)
		}
		if err != nil {
			continue
		}
		want := slices.DeleteFunc(slices.Clone(normal), func(p string) bool { return one(p, c.less) })
		for _, r := range notByDefault() {
			if p := r.GroupVersion().String() + "/" + r.Plural; one(p, c.more) {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		if d := cmp.Diff(want, paths(s)) + cmp.Diff(sortedList(c.absent), sortedList(strings.Join(absent, ","))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.pairs, d)
		}
	}
}

func one(path string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(path, part) })
}

// paths returns the paths that a table shows.
func paths(s *Serving) (out []string) {
	for _, r := range NewTable(Every(s)...).All() {
		gv := r.GroupVersion().String()
		if r.Group == "" {
			gv = "/" + gv
		}
		out = append(out, gv+"/"+r.Plural)
	}
	slices.Sort(out)
	return out
}

// TestTypesThatAreOffAreFound: the server itself finds types that are not served, and the owners of their objects.
func TestTypesThatAreOffAreFound(t *testing.T) {
	s, _, err := ParseServing([]string{"batch/v1=false", "resource.k8s.io/v1=false", "resource.k8s.io/v1beta1=true"})
	if err != nil {
		t.Fatal(err)
	}
	types := NewTable(Every(s)...)
	if r := types.Lookup("batch", "v1", "jobs"); r == nil || !r.Off {
		t.Errorf("jobs: %v", r)
	}
	if r := types.Collection("jobs"); r == nil || r.Version != "v1" {
		t.Errorf("the collection of jobs: %v", r)
	}
	if r := types.Collection("resourceclaims"); r == nil || r.Version != "v1beta1" {
		t.Errorf("the collection of resourceclaims: %v", r)
	}
	if r := types.Kind(types.Lookup("batch", "v1", "jobs").GroupVersionKind()); r != nil {
		t.Errorf("the kind Job: %v", r)
	}
	for _, g := range types.Groups() {
		if g.Name == "batch" {
			t.Errorf("groups: %v", g)
		}
	}
}

func sortedList(text string) string {
	words := strings.Split(text, ",")
	slices.Sort(words)
	return strings.Join(words, ",")
}
