package printers

import (
	"cmp"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// flowSchemaTable lists schemas in the order in which they are tried (printFlowSchemaList).
func flowSchemaTable() Table {
	t := of(flowSchemaColumns(), flowSchemaCells)
	t.Compare = func(a, b runtime.Object) int {
		x, y := as[*flowcontrolv1.FlowSchema](a), as[*flowcontrolv1.FlowSchema](b)
		return cmp.Or(cmp.Compare(x.Spec.MatchingPrecedence, y.Spec.MatchingPrecedence), cmp.Compare(x.Name, y.Name))
	}
	return t
}

func flowSchemaColumns() []Column {
	spec := flowcontrolv1.FlowSchemaSpec{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("PriorityLevel", flowcontrolv1.PriorityLevelConfigurationReference{}.SwaggerDoc()["name"]),
		text("MatchingPrecedence", spec["matchingPrecedence"]),
		text("DistinguisherMethod", spec["distinguisherMethod"]),
		ageColumn,
		text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
	}
}

func flowSchemaCells(s *flowcontrolv1.FlowSchema, now time.Time) []any {
	method := none
	if s.Spec.DistinguisherMethod != nil {
		method = string(s.Spec.DistinguisherMethod.Type)
	}
	dangling := "?"
	for _, c := range s.Status.Conditions {
		if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
			dangling = string(c.Status)
			break
		}
	}
	return []any{
		s.Name,
		s.Spec.PriorityLevelConfiguration.Name,
		int64(s.Spec.MatchingPrecedence),
		method,
		age(&s.ObjectMeta, now),
		dangling,
	}
}

func priorityLevelColumns() []Column {
	queuing := flowcontrolv1.QueuingConfiguration{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Type", flowcontrolv1.PriorityLevelConfigurationSpec{}.SwaggerDoc()["type"]),
		text("NominalConcurrencyShares", flowcontrolv1.LimitedPriorityLevelConfiguration{}.SwaggerDoc()["nominalConcurrencyShares"]),
		text("Queues", queuing["queues"]),
		text("HandSize", queuing["handSize"]),
		text("QueueLengthLimit", queuing["queueLengthLimit"]),
		ageColumn,
	}
}

// priorityLevelCells returns numbers, although the columns say string, and "<none>" where a level
// has no such setting: an exempt one has no shares here, one that rejects has no queues.
func priorityLevelCells(l *flowcontrolv1.PriorityLevelConfiguration, now time.Time) []any {
	var shares, queues, hand, length any = none, none, none, none
	if limited := l.Spec.Limited; limited != nil {
		shares = int64(value(limited.NominalConcurrencyShares, 0))
		if q := limited.LimitResponse.Queuing; q != nil {
			queues, hand, length = int64(q.Queues), int64(q.HandSize), int64(q.QueueLengthLimit)
		}
	}
	return []any{l.Name, string(l.Spec.Type), shares, queues, hand, length, age(&l.ObjectMeta, now)}
}
