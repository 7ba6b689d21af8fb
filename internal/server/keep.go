package server

import (
	"context"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/loopback"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// keepInterval is how often the objects of bootstrap.Check are checked.
const keepInterval = 10 * time.Second

// keepFirst keeps the objects of bootstrap.Check, which EnsureFirst has created, until the run of controllers ends or
// stopKeeping is called.
func (s *system) keepFirst(context.Context) {
	kept, unkept := s.current.keeping()
	defer close(unkept)
	ctx := reconcile.Named(kept, apiServer)
	rounds := &reconcile.Rounds{
		Interval: keepInterval,
		Check:    func(ctx context.Context) error { return s.api.CheckFirst(ctx, s.first) },
		Changes: &loopback.Changes{
			Cache: s.data.cache, Collections: []string{"services/specs", "services/endpoints", "endpointslices", "configmaps"},
			Matters: checked,
		},
		Object: reconcile.Object{Version: "v1", Resource: "services", Kind: "Service",
			Namespace: metav1.NamespaceDefault, Name: "kubernetes"},
		Why:    "the next check of the service kubernetes, its endpoints, and what extension API servers trust",
		Failed: func(err error) { s.log.Warn("failed to update an object of the cluster", "err", err) },
	}
	defer reconcile.Join(ctx, rounds)()
	rounds.Run(ctx)
}

// checked reports whether bootstrap.Check may answer the event with a write.
func checked(e *cache.Event) bool {
	m := &e.Object.Meta
	switch e.Collection {
	case "services/specs":
		return m.Namespace == metav1.NamespaceDefault && m.Name == "kubernetes" && e.Type == cache.Deleted
	case "services/endpoints":
		return m.Namespace == metav1.NamespaceDefault && m.Name == "kubernetes"
	case "endpointslices":
		return m.Namespace == metav1.NamespaceDefault && m.Labels[discoveryv1.LabelServiceName] == "kubernetes"
	}
	return m.Namespace == metav1.NamespaceSystem && m.Name == "extension-apiserver-authentication"
}
