package resources

import "k8s.io/apimachinery/pkg/runtime/schema"

// priority determines the position in discovery. The group with the higher priority is first, and in it the version
// with the higher priority.
type priority struct{ group, version int32 }

// priorities are those of the APIServices that kube-apiserver creates for its own versions (K
// pkg/controlplane/apiserver/aggregator.go). apiregistration.k8s.io has none there and comes first.
var priorities = map[schema.GroupVersion]priority{
	{Group: "", Version: "v1"}:                                   {18000, 1},
	{Group: "apiregistration.k8s.io", Version: "v1"}:             {20000, 18},
	{Group: "apps", Version: "v1"}:                               {17800, 15},
	{Group: "events.k8s.io", Version: "v1"}:                      {17750, 15},
	{Group: "authentication.k8s.io", Version: "v1"}:              {17700, 15},
	{Group: "authorization.k8s.io", Version: "v1"}:               {17600, 15},
	{Group: "autoscaling", Version: "v2"}:                        {17500, 30},
	{Group: "autoscaling", Version: "v1"}:                        {17500, 15},
	{Group: "batch", Version: "v1"}:                              {17400, 15},
	{Group: "certificates.k8s.io", Version: "v1"}:                {17300, 15},
	{Group: "networking.k8s.io", Version: "v1"}:                  {17200, 15},
	{Group: "networking.k8s.io", Version: "v1beta1"}:             {17200, 9},
	{Group: "policy", Version: "v1"}:                             {17100, 15},
	{Group: "rbac.authorization.k8s.io", Version: "v1"}:          {17000, 15},
	{Group: "storage.k8s.io", Version: "v1"}:                     {16800, 15},
	{Group: "admissionregistration.k8s.io", Version: "v1"}:       {16700, 15},
	{Group: "admissionregistration.k8s.io", Version: "v1beta1"}:  {16700, 12},
	{Group: "admissionregistration.k8s.io", Version: "v1alpha1"}: {16700, 9},
	{Group: "apiextensions.k8s.io", Version: "v1"}:               {16700, 15},
	{Group: "scheduling.k8s.io", Version: "v1"}:                  {16600, 15},
	{Group: "coordination.k8s.io", Version: "v1"}:                {16500, 15},
	{Group: "node.k8s.io", Version: "v1"}:                        {16300, 15},
	{Group: "discovery.k8s.io", Version: "v1"}:                   {16200, 15},
	{Group: "resource.k8s.io", Version: "v1"}:                    {16200, 21},
	{Group: "resource.k8s.io", Version: "v1beta2"}:               {16200, 15},
	{Group: "resource.k8s.io", Version: "v1beta1"}:               {16200, 9},
	{Group: "storage.k8s.io", Version: "v1beta1"}:                {16800, 9},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"}:       {16100, 21},
	{Group: "storagemigration.k8s.io", Version: "v1"}:            {15800, 15}, // v1's priority was not seen (V-009)
	{Group: "storagemigration.k8s.io", Version: "v1beta1"}:       {15800, 9},
	{Group: "certificates.k8s.io", Version: "v1beta1"}:           {17300, 9},
	{Group: "metrics.k8s.io", Version: "v1beta1"}:                {100, 100}, // as in metrics-server's manifest
}

// Priority returns groupPriorityMinimum and versionPriority of a group version's APIService. For custom resources they
// are those with which kube-apiserver creates the APIServices of their versions.
func Priority(gv schema.GroupVersion) (group, version int32) {
	p, ok := priorities[gv]
	if !ok {
		p = priority{1000, 100}
	}
	return p.group, p.version
}

// Own reports whether the server itself serves a group version, even if CustomResourceDefinitions add resources to it.
func Own(gv schema.GroupVersion) bool {
	_, ok := priorities[gv]
	return ok
}
