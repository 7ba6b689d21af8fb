package printers

import (
	"time"

	nodev1 "k8s.io/api/node/v1"
)

// runtimeClassColumns leave Handler without a description: upstream looks it up in the
// documentation of metadata, which has no handler.
func runtimeClassColumns() []Column {
	return []Column{nameColumn, text("Handler", ""), ageColumn}
}

func runtimeClassCells(c *nodev1.RuntimeClass, now time.Time) []any {
	return []any{c.Name, c.Handler, age(&c.ObjectMeta, now)}
}
