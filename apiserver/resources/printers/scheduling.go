package printers

import (
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
)

func priorityClassColumns() []Column {
	doc := schedulingv1.PriorityClass{}.SwaggerDoc()
	return []Column{
		nameColumn,
		integer("Value", doc["value"]),
		boolean("Global-Default", doc["globalDefault"]),
		ageColumn,
		text("PreemptionPolicy", doc["preemptionPolicy"]),
	}
}

func priorityClassCells(c *schedulingv1.PriorityClass, now time.Time) []any {
	return []any{
		c.Name,
		int64(c.Value),
		c.GlobalDefault,
		age(&c.ObjectMeta, now),
		string(value(c.PreemptionPolicy, "")),
	}
}
