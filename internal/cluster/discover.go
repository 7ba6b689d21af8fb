package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// aggregated is the form of discovery in which one response has all groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// Discover reads what the server serves.
func (c *Client) Discover(ctx context.Context) (*Discovery, error) {
	d := &Discovery{}
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

// discoverIndex discovers a server that does not list its groups, as an aggregator before it would do that:
// apiextensions-apiserver by itself (AX pkg/apiserver/apiserver.go: EnableDiscovery is false). Its index has the paths of
// its own groups, and the CustomResourceDefinitions have the others.
func (c *Client) discoverIndex(ctx context.Context, d *Discovery) error {
	var index struct{ Paths []string }
	if err := c.getJSON(ctx, "/", nil, &index); err != nil {
		if code(err) != 0 { // there is no index either
			return nil
		}
		return err
	}
	var groups groupVersions
	for _, path := range index.Paths {
		if parts := strings.Split(path, "/"); len(parts) == 4 && parts[1] == "apis" && parts[3] != "" {
			groups.add(parts[2], parts[3])
		}
	}
	if err := c.discoverGroups(ctx, "/apis", groups, d); err != nil {
		return err
	}
	res := d.Named(crds)
	if res == nil {
		return nil
	}
	var list apiextensionsv1.CustomResourceDefinitionList
	if err := c.getJSON(ctx, res.Path(""), nil, &list); err != nil {
		return fmt.Errorf("list of %s: %w", crds, err)
	}
	var custom groupVersions
	for _, crd := range list.Items {
		for _, v := range crd.Spec.Versions {
			if v.Served {
				custom.add(crd.Spec.Group, v.Name)
			}
		}
	}
	return c.discoverGroups(ctx, "/apis", custom, d)
}

// groupVersions are groups with their versions, each once, in the order in which they were added.
type groupVersions []metav1.APIGroup

func (g *groupVersions) add(group, version string) {
	v := metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + version, Version: version}
	i := slices.IndexFunc(*g, func(o metav1.APIGroup) bool { return o.Name == group })
	if i < 0 {
		*g = append(*g, metav1.APIGroup{Name: group})
		i = len(*g) - 1
	}
	if !slices.Contains((*g)[i].Versions, v) {
		(*g)[i].Versions = append((*g)[i].Versions, v)
	}
}
