package resources

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

func flowcontrol() []*Resource {
	bySpec := Strategy{Generation: SpecGeneration}
	return group(flowcontrolv1.SchemeGroupVersion,
		&Resource{Plural: "flowschemas", New: of[flowcontrolv1.FlowSchema], Strategy: bySpec, Subresources: withStatus},
		&Resource{Plural: "prioritylevelconfigurations", New: of[flowcontrolv1.PriorityLevelConfiguration], Strategy: bySpec, Subresources: withStatus},
	)
}
