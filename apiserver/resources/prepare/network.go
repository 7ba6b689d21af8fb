package prepare

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
)

// createSlice drops the topology that v1 can't write.
func createSlice(s *discoveryv1.EndpointSlice) { dropTopology(s, nil) }

func updateSlice(s, old *discoveryv1.EndpointSlice) {
	if !apiequality.Semantic.DeepEqual(s.Endpoints, old.Endpoints) {
		dropTopology(s, old)
	}
}

// dropTopology drops topology from endpoints. A node's name that stood there before becomes the
// endpoint's node name, so that a partial update doesn't lose it.
func dropTopology(s, old *discoveryv1.EndpointSlice) {
	known := map[string]bool{}
	if old != nil {
		for _, e := range old.Endpoints {
			known[e.DeprecatedTopology[corev1.LabelHostname]] = true
		}
	}
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		node := e.DeprecatedTopology[corev1.LabelHostname]
		if e.NodeName == nil && node != "" && known[node] && len(validation.NameIsDNSSubdomain(node, false)) == 0 {
			e.NodeName = &node
		}
		e.DeprecatedTopology = nil
	}
}
