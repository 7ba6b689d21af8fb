package v2

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	harborv1 "github.com/kubecascade/kubecascade/tests/e2e/webhooks/project/api/v1"
)

// ConvertTo converts the Berth to the hub version.
func (b *Berth) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*harborv1.Berth)
	if !ok {
		return fmt.Errorf("converting a Berth to %T", hub)
	}
	to.ObjectMeta = b.ObjectMeta
	to.Spec = harborv1.BerthSpec{
		Vessel: b.Spec.Ship, Quay: b.Spec.Quay, LengthMeters: b.Spec.LengthMeters, Moored: b.Spec.Moored,
	}
	to.Status = harborv1.BerthStatus(b.Status)
	return nil
}

// ConvertFrom converts the hub version to the Berth.
func (b *Berth) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*harborv1.Berth)
	if !ok {
		return fmt.Errorf("converting a Berth from %T", hub)
	}
	b.ObjectMeta = from.ObjectMeta
	b.Spec = BerthSpec{
		Ship: from.Spec.Vessel, Quay: from.Spec.Quay, LengthMeters: from.Spec.LengthMeters, Moored: from.Spec.Moored,
	}
	b.Status = BerthStatus(from.Status)
	return nil
}
