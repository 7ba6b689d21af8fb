package snapshot

import (
	"slices"
	"strings"
)

// everyCluster are names of objects that each cluster of Kubernetes has, below the prefix of its keys. kube-apiserver
// creates both (K pkg/controlplane/controller/systemnamespaces).
var everyCluster = []string{"/namespaces/kube-system", "/namespaces/default"}

// Prefixes are the prefixes below which the keys have a cluster, the one with the most keys first. kube-apiserver's
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
	slices.SortFunc(all, func(a, b string) int {
		if below[a] != below[b] {
			return below[b] - below[a]
		}
		return strings.Compare(a, b)
	})
	return all
}
