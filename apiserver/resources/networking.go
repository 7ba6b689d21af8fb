package resources

import networkingv1 "k8s.io/api/networking/v1"

func networking() []*Resource {
	bySpec := Strategy{Generation: SpecGeneration}
	return group(networkingv1.SchemeGroupVersion,
		&Resource{Plural: "ingressclasses", New: of[networkingv1.IngressClass], Strategy: bySpec},
		&Resource{Plural: "ingresses", New: of[networkingv1.Ingress], Namespaced: true, ShortNames: []string{"ing"},
			Collection: "ingress", Strategy: bySpec, Subresources: withStatus},
		&Resource{Plural: "ipaddresses", New: of[networkingv1.IPAddress], ShortNames: []string{"ip"}},
		&Resource{Plural: "networkpolicies", New: of[networkingv1.NetworkPolicy], Namespaced: true,
			ShortNames: []string{"netpol"}, Strategy: bySpec},
		&Resource{Plural: "servicecidrs", New: of[networkingv1.ServiceCIDR], Subresources: withStatus},
	)
}
