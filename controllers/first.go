package controllers

import (
	"context"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/loopback"
)

// firstInterval is the interval of checks of the objects that every cluster has.
const firstInterval = 10 * time.Second

// firstObjects maintains the service kubernetes, its endpoints, the default ServiceCIDR, and the ConfigMap
// extension-apiserver-authentication.
func firstObjects(s *setup) []run {
	return []run{func(ctx context.Context) {
		rounds := &reconcile.Rounds{
			Interval: firstInterval,
			Check:    s.process.CheckFirst,
			Changes: &loopback.Changes{
				Cache: s.client().Cache,
				Collections: []string{"services/specs", "services/endpoints", "endpointslices", "configmaps",
					"servicecidrs"},
				Matters: isFirst,
			},
			Object: reconcile.Object{Version: "v1", Resource: "services", Kind: "Service",
				Namespace: metav1.NamespaceDefault, Name: "kubernetes"},
			Why: "the next check of the service kubernetes, its endpoints, the default ServiceCIDR, and what " +
				"extension API servers trust",
			Failed: func(err error) {
				s.process.Log.Warn("failed to update an object of the cluster", "err", err)
			},
		}
		rounds.Run(ctx)
	}}
}

// isFirst reports whether Process.CheckFirst may answer the event with a write.
func isFirst(e *loopback.Event) bool {
	m := &e.Object.Meta
	switch e.Collection {
	case "services/specs":
		return m.Namespace == metav1.NamespaceDefault && m.Name == "kubernetes" && e.Type == loopback.Deleted
	case "servicecidrs":
		return m.Name == "kubernetes" && e.Type == loopback.Deleted
	case "services/endpoints":
		return m.Namespace == metav1.NamespaceDefault && m.Name == "kubernetes"
	case "endpointslices":
		return m.Namespace == metav1.NamespaceDefault && m.Labels[discoveryv1.LabelServiceName] == "kubernetes"
	}
	return m.Namespace == metav1.NamespaceSystem && m.Name == "extension-apiserver-authentication"
}
