package resources

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Serving is the parsed flag --runtime-config: it enables optional versions and disables default ones. nil is the
// default.
type Serving struct {
	// levels are the keys for many versions, by their index in levels. versions and resources are the keys for one.
	levels    map[int]bool
	versions  map[schema.GroupVersion]bool
	resources map[schema.GroupVersionResource]bool
}

// levels are the keys of --runtime-config for many versions. If two keys apply to one version, the later one in this
// list decides (AS pkg/server/resourceconfig/helpers.go: groupVersionMatchersOrder).
var levels = []struct {
	word    string
	pattern *regexp.Regexp
}{
	{"api/all", regexp.MustCompile(``)},
	{"api/ga", regexp.MustCompile(`^v\d+$`)},
	{"api/beta", regexp.MustCompile(`^v\d+beta\d+$`)},
	{"api/alpha", regexp.MustCompile(`^v\d+alpha\d+$`)},
}

// known returns the group versions that kube-apiserver v1.37 accepts in --runtime-config, by preference. These are all
// versions with Go types, even if it can't serve them (K pkg/controlplane/import_known_versions.go).
var known = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{"apiextensions.k8s.io": {"v1beta1"}, "apiregistration.k8s.io": {"v1beta1"}}
	add := func(gv schema.GroupVersion) {
		if !slices.Contains(all[gv.Group], gv.Version) {
			all[gv.Group] = append(all[gv.Group], gv.Version)
		}
	}
	for _, r := range Every(nil) {
		add(r.GroupVersion())
	}
	for text := range retired {
		if gv, err := schema.ParseGroupVersion(text); err == nil {
			add(gv)
		}
	}
	for _, versions := range all {
		slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	}
	return all
})

// missing are the versions that kube-apiserver v1.37 serves if they and their feature gates are enabled, and that this
// server does not serve: LeaseCandidate, StorageVersion, EvictionRequest, ResourcePoolStatusRequest, Workload and
// PodGroup are not implemented (V-002 to V-005).
var missing = []schema.GroupVersion{
	{Group: "coordination.k8s.io", Version: "v1alpha2"}, {Group: "coordination.k8s.io", Version: "v1beta1"},
	{Group: "internal.apiserver.k8s.io", Version: "v1alpha1"}, {Group: "lifecycle.k8s.io", Version: "v1alpha1"},
	{Group: "resource.k8s.io", Version: "v1alpha3"},
	{Group: "scheduling.k8s.io", Version: "v1alpha3"}, {Group: "scheduling.k8s.io", Version: "v1beta1"},
}

// ParseServing parses the pairs of --runtime-config: "key=value", or "key", which means true. If two have the same key,
// the last one decides (AS pkg/server/resourceconfig/helpers.go: MergeAPIResourceConfigs;
// pkg/server/options/api_enablement.go: Validate). absent has the enabled keys and versions that kube-apiserver serves
// and this server does not.
//
// It is stricter than upstream: it rejects keys that have no effect in upstream, except for v1 and api/legacy.
func ParseServing(pairs []string) (s *Serving, absent []string, err error) {
	words := map[string]string{}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		words[key] = value
	}
	if len(words) == 1 && words["api/all"] == "false" {
		return nil, nil, errors.New("api/all=false alone leaves nothing to be served; enable versions, as in apps/v1=true")
	}
	s = &Serving{levels: map[int]bool{}, versions: map[schema.GroupVersion]bool{},
		resources: map[schema.GroupVersionResource]bool{}}
	for _, key := range slices.Sorted(maps.Keys(words)) {
		here, err := s.parse(key, words[key])
		if err != nil {
			return nil, nil, err
		}
		if !here {
			absent = append(absent, key)
		}
	}
	for _, gv := range missing {
		if key := gv.String(); words[key] == "" && s.serves(gv.WithResource(""), false) {
			absent = append(absent, key)
		}
	}
	return s, absent, nil
}

// parse parses one pair. here is false if the pair enables a version or resource that this server does not have.
func (s *Serving) parse(key, value string) (here bool, err error) {
	for i, l := range levels {
		if key != l.word {
			continue
		}
		if value != "true" && value != "false" {
			return false, fmt.Errorf("%s=%s: the value is neither true nor false", key, value)
		}
		s.levels[i] = value == "true"
		return true, nil
	}
	on := value == ""
	if !on {
		if on, err = strconv.ParseBool(value); err != nil {
			return false, fmt.Errorf("%s=%s: the value is neither true nor false", key, value)
		}
	}
	tokens := strings.Split(key, "/")
	switch {
	case key == "v1", key == "api/legacy":
		return on, nil // they have no effect on kube-apiserver, either
	case len(tokens) < 2 || len(tokens) > 3:
		return false, fmt.Errorf(
			"%q is neither <group>/<version>, <group>/<version>/<resource>, api/all, api/ga, api/beta nor api/alpha", key)
	}
	gv := schema.GroupVersion{Group: tokens[0], Version: tokens[1]}
	versions, ok := known()[gv.Group]
	switch {
	case !ok:
		return false, fmt.Errorf("%q: unknown API group %q; the groups are %s", key, gv.Group,
			strings.Join(slices.Sorted(maps.Keys(known()))[1:], ", ")) // the first is the core group, without a name
	case !slices.Contains(versions, gv.Version):
		return false, fmt.Errorf("%q: unknown version %q; %s has %s", key, gv.Version, gv.Group, strings.Join(versions, ", "))
	case len(tokens) == 2:
		s.versions[gv] = on
		return !on || possible(gv, ""), nil
	case possible(gv, "") && !possible(gv, tokens[2]):
		return false, fmt.Errorf("%q: %s has no resource %q", key, gv, tokens[2])
	}
	s.resources[gv.WithResource(tokens[2])] = on
	return !on || possible(gv, tokens[2]), nil
}

// possible reports whether a resource can be served in a group version. If plural is empty, any resource of the version
// suffices.
func possible(gv schema.GroupVersion, plural string) bool {
	return slices.ContainsFunc(Every(nil), func(r *Resource) bool {
		return r.GroupVersion() == gv && (plural == "" || r.Plural == plural)
	})
}

// serves reports whether a resource is served. byDefault is the result if no key matches.
func (s *Serving) serves(gvr schema.GroupVersionResource, byDefault bool) bool {
	if s == nil {
		return byDefault
	}
	if on, ok := s.resources[gvr]; ok {
		return on
	}
	if on, ok := s.versions[gvr.GroupVersion()]; ok {
		return on
	}
	for i, l := range levels {
		if on, ok := s.levels[i]; ok && l.pattern.MatchString(gvr.Version) {
			byDefault = on
		}
	}
	return byDefault
}
