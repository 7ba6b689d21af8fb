package cases

import (
	c "github.com/kubecascade/kubecascade/conformance"
)

func clusterScoped() []Case {
	return group("cluster", owners, c.Collector|c.Cluster,
		prove("owner-of-namespaced", clusterOwner, "D-70 D-S10",
			"A namespaced object may be owned by a cluster-scoped one, and is deleted after it."),
		prove("owner-of-cluster-scoped", clusterPair, "D-70 D-43",
			"A cluster-scoped object may be owned by another: in the foreground it is deleted before its owner."),
		prove("absent-owner", clusterAbsent, "D-49 D-70",
			"Dependents of a cluster-scoped owner that never existed are deleted, in namespaces and outside."),
		prove("namespaced-owner", clusterNamespaced, "D-37 D-72 D-S13",
			"A cluster-scoped object that names a namespaced owner is never collected, whether that owner exists or not."),
		prove("orphaned", clusterOrphan, "D-60 D-70",
			"Dependents of a cluster-scoped owner, in namespaces and outside, are orphaned like others."),
	)
}

func clusterOwner(t *T) { livesWith(t, c.ClusterRole) }

func clusterPair(t *T) { inForeground(t, c.ClusterRole, c.ClusterRole, by(c.Foreground)) }

func clusterAbsent(t *T) {
	t.Await(t.Make(c.ConfigMap, "dependent", c.Refs(c.Absent(c.ClusterRole))), c.Gone)
	t.Await(t.Make(c.ClusterRole, "dependent", c.Refs(c.Absent(c.ClusterRole))), c.Gone)
}

func clusterNamespaced(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependent := t.Make(c.ClusterRole, "dependent", c.By(owner))
	never := t.Make(c.ClusterRole, "of-nobody", c.Refs(c.Absent(c.ConfigMap)))
	good := t.Make(c.ConfigMap, "good", c.By(owner))
	t.Pass(c.ConfigMap, c.ClusterRole)
	t.Untouched(dependent)
	t.Delete(owner)
	t.Await(good, c.Gone)
	t.Pass(c.ConfigMap, c.ClusterRole)
	t.Untouched(dependent, never)
}

func clusterOrphan(t *T) {
	owner := t.Make(c.ClusterRole, "owner")
	dependents := []*Object{
		t.Make(c.ConfigMap, "inside", c.By(owner)), t.Make(c.ClusterRole, "outside", c.Blocking(owner)),
	}
	orphanAll(t, owner, dependents, c.ConfigMap, c.ClusterRole)
}
