package snapshot

import (
	"cmp"
	"slices"
	"strings"
)

// everyCluster has names of objects that exist in each Kubernetes cluster, below the prefix of its keys. kube-apiserver
// creates both (K pkg/controlplane/controller/systemnamespaces).
var everyCluster = []string{"/namespaces/kube-system", "/namespaces/default"}

// Prefixes returns the prefixes below which keys contains a cluster, the one with the most keys first. kube-apiserver's
// default is /registry (--etcd-prefix).
func Prefixes(keys []string) []string {
	below := map[string]int{}
	for _, key := range keys {
		for _, name := range everyCluster {
			if prefix, ok := strings.CutSuffix(key, name); ok {
				below[prefix] = 0
			}
		}
	}
	var all []string
	for prefix := range below {
		for _, key := range keys {
			if strings.HasPrefix(key, prefix+"/") {
				below[prefix]++
			}
		}
		all = append(all, prefix)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(below[b]-below[a], strings.Compare(a, b)) })
	return all
}
