package main

import "slices"

// stages returns the cases by the contents that their servers need.
func (b *bench) stages() []stage {
	admission := []workload{
		{name: "create, no configuration of admission", run: admissionCase(nil)},
		{name: "create, 10 webhooks that do not match", run: admissionCase(webhooks)},
		{name: "create, 10 policies that match", run: admissionCase(policies)},
	}
	changes := b.size(1000)
	return []stage{
		{nil, b.startCases()},
		{define, verbCases()},
		{filled, slices.Concat(b.listCases(), b.syncCases(), b.crowdCases())},
		{define, eventCases()},
		{define, cascadeCases(b.size(20_000))},
		{define, admission},
		{nil, []workload{
			definitionCase(b.size(200)),
			nodesCase(1, 1, b.size(300)),
			nodesCase(b.size(1000), b.size(40), 250),
			rollbackCase(changes, b.size(10_000)),
			rollbackCase(changes, b.size(100_000)),
			memoryCase(b.size(100_000)),
		}},
	}
}
