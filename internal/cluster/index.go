package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
