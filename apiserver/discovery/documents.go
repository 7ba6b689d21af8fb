package discovery

import (
	"crypto/sha256"
	"encoding/base64"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// documents has all documents for one state of the table.
type documents struct {
	generation uint64
	others     []Other
	byPath     map[string]*page
}

// page is the response for one path.
type page struct {
	plain *document
	// aggregated is set for /api and /apis.
	aggregated *document
}

func newDocuments(
	all []*resources.Resource, groups []resources.Group, address string, others []Other,
) *documents {
	d := &documents{byPath: map[string]*page{}}
	groups = merged(groups, others)
	versions := map[schema.GroupVersion][]*resources.Resource{}
	for _, r := range all {
		versions[r.GroupVersion()] = append(versions[r.GroupVersion()], r)
	}
	list := &metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{},
	}
	core, named := []apidiscoveryv2.APIGroupDiscovery{}, []apidiscoveryv2.APIGroupDiscovery{}
	for _, g := range groups {
		prefix := "/apis/" + g.Name
		if g.Name == "" {
			prefix = "/api"
			core = append(core, aggregate(g, versions, others))
		} else {
			group := apiGroup(g)
			list.Groups = append(list.Groups, group)
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			d.byPath[prefix] = &page{plain: &document{object: &group}}
			named = append(named, aggregate(g, versions, others))
		}
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v}
			d.byPath[prefix+"/"+v] = &page{plain: &document{object: resourceList(gv, versions[gv])}}
		}
	}
	d.byPath["/api"] = &page{plain: &document{object: apiVersions(groups, address)}, aggregated: newAggregated(core)}
	d.byPath["/apis"] = &page{plain: &document{object: list}, aggregated: newAggregated(named)}
	return d
}

// apiVersions returns the versions of the core group. Like every document below /api it has no apiVersion (AS
// pkg/endpoints/discovery/util.go:keepUnversioned).
func apiVersions(groups []resources.Group, address string) *metav1.APIVersions {
	v := &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: address}}}
	for _, g := range groups {
		if g.Name == "" {
			v.Versions = g.Versions
		}
	}
	return v
}

func apiGroup(g resources.Group) metav1.APIGroup {
	name := func(v string) metav1.GroupVersionForDiscovery {
		return metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v, Version: v}
	}
	out := metav1.APIGroup{Name: g.Name, PreferredVersion: name(g.Preferred)}
	for _, v := range g.Versions {
		out.Versions = append(out.Versions, name(v))
	}
	return out
}

func resourceList(gv schema.GroupVersion, rs []*resources.Resource) *metav1.APIResourceList {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
	if gv.Group == "" {
		list.APIVersion = ""
	}
	for _, r := range rs {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: r.Plural, SingularName: r.Singular, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: r.Verbs,
			ShortNames: r.ShortNames, Categories: r.Categories, StorageVersionHash: storageVersionHash(r.WrittenKind())})
		for _, s := range r.Subresources {
			sub := metav1.APIResource{Name: r.Plural + "/" + s.Name, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: s.Verbs}
			if !s.Kind.Empty() {
				sub.Kind = s.Kind.Kind
			}
			if foreign(r, s.Kind) {
				sub.Group, sub.Version = s.Kind.Group, s.Kind.Version
			}
			list.APIResources = append(list.APIResources, sub)
		}
	}
	return list
}

// foreign reports whether a subresource's kind is in another group version than its resource.
func foreign(r *resources.Resource, kind schema.GroupVersionKind) bool {
	return !kind.Empty() && kind.GroupVersion() != r.GroupVersion()
}

// storageVersionHash returns a hash of the group, version and kind of stored objects (AS
// pkg/endpoints/discovery/storageversionhash.go). It is empty for resources that are not stored.
func storageVersionHash(stored schema.GroupVersionKind) string {
	if stored.Empty() {
		return ""
	}
	sum := sha256.Sum256([]byte(stored.Group + "/" + stored.Version + "/" + stored.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
