package resources

import schedulingv1 "k8s.io/api/scheduling/v1"

func scheduling() []*Resource {
	return group(schedulingv1.SchemeGroupVersion,
		&Resource{Plural: "priorityclasses", New: of[schedulingv1.PriorityClass], ShortNames: []string{"pc"},
			Strategy: Strategy{Generation: CreateOnlyGeneration}, Delete: Deletion{Refuse: systemPriority}},
	)
}
