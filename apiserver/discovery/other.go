package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Other is a group version that another server serves, with the priorities of its APIService.
type Other struct {
	Group                          string
	GroupPriority, VersionPriority int32
	apidiscoveryv2.APIVersionDiscovery
}

func (o *Other) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: o.Group, Version: o.Version}
}

// merged adds the group versions of other servers to groups, in the order of /apis (KA pkg/apiserver/handler_apis.go).
// The first version of a group is the preferred one.
func merged(groups []resources.Group, others []Other) (out []resources.Group) {
	if len(others) == 0 {
		return groups
	}
	var all []*apiregistrationv1.APIService
	seen := map[schema.GroupVersion]bool{}
	add := func(gv schema.GroupVersion, group, version int32) {
		if !seen[gv] {
			s := &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{
				Group: gv.Group, Version: gv.Version, GroupPriorityMinimum: group, VersionPriority: version}}
			s.Name = gv.Version + "." + gv.Group
			seen[gv], all = true, append(all, s)
		}
	}
	for i := range others {
		o := &others[i]
		add(o.groupVersion(), o.GroupPriority, o.VersionPriority)
	}
	for _, g := range groups {
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v}
			group, version := resources.Priority(gv)
			add(gv, group, version)
		}
	}
	for _, versions := range helper.SortedByGroupAndVersion(all) {
		g := resources.Group{Name: versions[0].Spec.Group, Preferred: versions[0].Spec.Version}
		for _, s := range versions {
			g.Versions = append(g.Versions, s.Spec.Version)
		}
		out = append(out, g)
	}
	return out
}
