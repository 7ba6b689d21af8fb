package defaults

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// FlowSchema stands in the middle of the order of schemas.
func FlowSchema(f *flowcontrolv1.FlowSchema) { fill(&f.Spec.MatchingPrecedence, 1000) }

// PriorityLevelConfiguration fills in shares, and queues if it has any.
func PriorityLevelConfiguration(p *flowcontrolv1.PriorityLevelConfiguration) {
	if l := p.Spec.Limited; l != nil {
		set(&l.NominalConcurrencyShares, 30)
		set(&l.LendablePercent, 0)
		if q := l.LimitResponse.Queuing; q != nil {
			fill(&q.HandSize, 8)
			fill(&q.Queues, 64)
			fill(&q.QueueLengthLimit, 50)
		}
	}
	if e := p.Spec.Exempt; e != nil {
		set(&e.NominalConcurrencyShares, 0)
		set(&e.LendablePercent, 0)
	}
}
