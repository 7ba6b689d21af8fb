package loopback

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Lease implements election.API for the lease of its name.
type Lease struct {
	API             *registry.Loopback
	Namespace, Name string
}

func (l *Lease) path(name string) registry.Path {
	return registry.Path{
		Resource: l.API.Types().Lookup("coordination.k8s.io", "v1", "leases"), Namespace: l.Namespace, Name: name,
	}
}

// Get implements election.API.
func (l *Lease) Get(ctx context.Context) (*coordinationv1.Lease, error) {
	return Typed[coordinationv1.Lease](l.API.Get(ctx, l.path(l.Name)))
}

// Create implements election.API.
func (l *Lease) Create(ctx context.Context, spec coordinationv1.LeaseSpec) (*coordinationv1.Lease, error) {
	return Typed[coordinationv1.Lease](l.API.Create(ctx, l.path(""), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name}, Spec: spec}))
}

// Update implements election.API.
func (l *Lease) Update(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return Typed[coordinationv1.Lease](l.API.Update(ctx, l.path(l.Name), lease))
}
