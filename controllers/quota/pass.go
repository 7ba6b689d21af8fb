package quota

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/usage"
)

// pass counts what one namespace uses.
type pass struct {
	api API
	now func(context.Context) time.Time
}

// run updates the quotas of a namespace. An error with one quota stops no other.
func (p *pass) run(ctx context.Context, namespace string) error {
	quotas, err := p.api.Quotas(ctx, namespace)
	if err != nil {
		return fmt.Errorf("reading quotas: %w", err)
	}
	objects, err := p.objects(ctx, namespace, quotas)
	if err != nil {
		return err
	}
	var errs []error
	for _, q := range quotas {
		next := corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: usage.Total(&q.Spec, objects, p.now(ctx))}
		if usage.Same(next.Hard, q.Status.Hard) && usage.Same(next.Used, q.Status.Used) && q.Status.Used != nil {
			continue
		}
		q = q.DeepCopy()
		q.Status = next
		if err := p.api.UpdateStatus(ctx, q); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("updating the status of %s: %w", q.Name, err))
		}
	}
	return errors.Join(errs...)
}

// objects reads the objects that the quotas count, each resource once, and after the quotas.
func (p *pass) objects(
	ctx context.Context, namespace string, quotas []*corev1.ResourceQuota,
) (map[schema.GroupResource][]runtime.Object, error) {
	named := corev1.ResourceList{}
	for _, q := range quotas {
		for name, hard := range q.Spec.Hard {
			named[name] = hard
		}
	}
	out := map[schema.GroupResource][]runtime.Object{}
	for _, r := range usage.Counted(usage.Names(named)) {
		list, err := p.api.Objects(ctx, r, namespace)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", r, err)
		default:
			out[r] = list
		}
	}
	return out, nil
}
