package resources

import policyv1 "k8s.io/api/policy/v1"

func policy() []*Resource {
	return group(policyv1.SchemeGroupVersion,
		&Resource{Plural: "poddisruptionbudgets", New: of[policyv1.PodDisruptionBudget], Namespaced: true, ShortNames: []string{"pdb"},
			// ValidatePodDisruptionBudget judges the spec alone (policy/validation).
			Strategy: Strategy{Generation: SpecGeneration, Conditional: true, PlainMeta: true}, Subresources: withStatus},
	)
}
