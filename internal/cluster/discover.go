package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/explain"
)

// aggregated is the form of discovery in which one response has all groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// Resource is a resource with what discovery says of it besides.
type Resource struct {
	explain.Resource
	Singular   string
	ShortNames []string
	// Listed and Watched: it has the verb list, and watch.
	Listed, Watched bool
}

// Path is the path of the collection, of all namespaces if namespace is empty.
func (r *Resource) Path(namespace string) string {
	p := "/apis/" + r.APIVersion()
	if r.Group == "" {
		p = "/api/" + r.APIVersion()
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + r.Plural
}

// Discovery is what a server serves.
type Discovery struct {
	Resources []*Resource
	// Unavailable are the group-versions of which the server could not say what they have.
	Unavailable []explain.Unavailable

	deletions map[schema.GroupResource]finalizers.Kind
}

// NewDiscovery returns one without resources, for Add and then Share.
func NewDiscovery() *Discovery { return &Discovery{deletions: deletions()} }

// Discover reads what the server serves.
func (c *Client) Discover(ctx context.Context) (*Discovery, error) {
	d := NewDiscovery()
	for _, root := range []string{"/api", "/apis"} {
		media, body, err := c.get(ctx, root, nil, aggregated)
		switch {
		case err != nil && code(err) == http.StatusNotFound: // a server without the core group, or without others
			continue
		case err != nil:
			return nil, err
		}
		if is(media, "application/json", "as=APIGroupDiscoveryList") {
			err = d.addAggregated(body)
		} else {
			err = c.discoverEach(ctx, root, body, d)
		}
		if err != nil {
			return nil, fmt.Errorf("discovery: GET %s: %w", root, err)
		}
	}
	if len(d.Resources) == 0 && len(d.Unavailable) == 0 {
		if err := c.discoverIndex(ctx, d); err != nil {
			return nil, fmt.Errorf("discovery: %w", err)
		}
	}
	if len(d.Resources) == 0 {
		return nil, fmt.Errorf("discovery: %s serves no resources", c.URL)
	}
	d.Share()
	return d, nil
}

// addAggregated adds the groups of a response that has all.
func (d *Discovery) addAggregated(body []byte) error {
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	for _, g := range list.Items {
		for _, v := range g.Versions {
			if v.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				d.fail(g.Name, v.Version, "its server does not answer")
			}
			for _, r := range v.Resources {
				if r.ResponseKind == nil {
					continue
				}
				d.Add(g.Name, v.Version, metav1.APIResource{
					Name: r.Resource, SingularName: r.SingularResource, Kind: r.ResponseKind.Kind, Verbs: r.Verbs,
					Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace, ShortNames: r.ShortNames,
				})
			}
		}
	}
	return nil
}

// discoverEach reads each group-version by itself, as old servers want it.
func (c *Client) discoverEach(ctx context.Context, root string, body []byte, d *Discovery) error {
	var groups metav1.APIGroupList
	if root == "/api" {
		var versions metav1.APIVersions
		if err := json.Unmarshal(body, &versions); err != nil {
			return err
		}
		core := metav1.APIGroup{}
		for _, v := range versions.Versions {
			core.Versions = append(core.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v, Version: v})
		}
		groups.Groups = append(groups.Groups, core)
	} else if err := json.Unmarshal(body, &groups); err != nil {
		return err
	}
	return c.discoverGroups(ctx, root, groups.Groups, d)
}

// discoverGroups reads the versions of groups, the preferred one first.
func (c *Client) discoverGroups(ctx context.Context, root string, groups []metav1.APIGroup, d *Discovery) error {
	for _, g := range groups {
		preferred := func(v metav1.GroupVersionForDiscovery) bool { return v.Version == g.PreferredVersion.Version }
		slices.SortStableFunc(g.Versions, func(a, b metav1.GroupVersionForDiscovery) int {
			switch {
			case preferred(a) == preferred(b):
				return 0
			case preferred(a):
				return -1
			}
			return 1
		})
		for _, v := range g.Versions {
			var list metav1.APIResourceList
			if err := c.getJSON(ctx, root+"/"+v.GroupVersion, nil, &list); err != nil {
				if ctx.Err() != nil {
					return err
				}
				d.fail(g.Name, v.Version, err.Error())
				continue
			}
			for _, r := range list.APIResources {
				d.Add(g.Name, v.Version, r)
			}
		}
	}
	return nil
}

func (d *Discovery) fail(group, version, message string) {
	d.Unavailable = append(d.Unavailable, explain.Unavailable{Name: version + "." + group, Message: message})
}

// Add adds a resource, or a further version of it, in the order of discovery. Subresources are no resources.
func (d *Discovery) Add(group, version string, r metav1.APIResource) {
	if strings.Contains(r.Name, "/") {
		return
	}
	i := slices.IndexFunc(d.Resources, func(o *Resource) bool { return o.Group == group && o.Plural == r.Name })
	if i >= 0 {
		d.Resources[i].Versions = append(d.Resources[i].Versions, version)
		return
	}
	d.Resources = append(d.Resources, &Resource{
		Resource: explain.Resource{
			Group: group, Versions: []string{version}, Kind: r.Kind, Plural: r.Name, Namespaced: r.Namespaced,
			Delete: d.deletions[schema.GroupResource{Group: group, Resource: r.Name}],
		},
		Singular: r.SingularName, ShortNames: r.ShortNames, Listed: slices.Contains(r.Verbs, "list"),
		Watched: slices.Contains(r.Verbs, "watch"),
	})
}

// Share joins resources with the same storage: the events of both groups are the same objects (J-36).
func (d *Discovery) Share() {
	at := func(group string) int {
		return slices.IndexFunc(d.Resources, func(r *Resource) bool { return r.Group == group && r.Plural == "events" })
	}
	core, other := at(""), at("events.k8s.io")
	if core >= 0 {
		d.Resources[core].Inert = true // D-08
	}
	if core >= 0 && other >= 0 {
		r := d.Resources[other]
		for _, v := range r.Versions {
			d.Resources[core].Aliases = append(d.Resources[core].Aliases, r.Group+"/"+v)
		}
		d.Resources = slices.Delete(d.Resources, other, other+1)
	}
}

// deletions are what a DELETE depends on, by group and resource, for the kinds of which it isn't the default. It is the
// same on all servers, as it is a part of the types.
func deletions() map[schema.GroupResource]finalizers.Kind {
	all := map[schema.GroupResource]finalizers.Kind{}
	for _, r := range resources.Declared(time.Now, nil) {
		obj, err := resources.Scheme().New(r.GroupVersionKind())
		if err != nil { // it is not stored
			continue
		}
		k := r.Delete.For(obj)
		k.DefaultGraceSeconds, k.GraceForbidden = nil, false // they depend on the object
		if k != (finalizers.Kind{}) {
			all[schema.GroupResource{Group: r.Group, Resource: r.Plural}] = k
		}
	}
	return all
}
