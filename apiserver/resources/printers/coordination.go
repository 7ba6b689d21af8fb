package printers

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

func leaseColumns() []Column {
	return []Column{nameColumn, text("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]), ageColumn}
}

func leaseCells(l *coordinationv1.Lease, now time.Time) []any {
	return []any{l.Name, value(l.Spec.HolderIdentity, ""), age(&l.ObjectMeta, now)}
}
