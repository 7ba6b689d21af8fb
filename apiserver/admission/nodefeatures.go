package admission

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	componentversion "k8s.io/component-base/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/types"
)

// NodeFeatures is NodeDeclaredFeatureValidator. If a change of a pod on a node needs a feature, such as the resize of
// pod-level resources, it is rejected unless the node declares the feature (V-110; K
// plugin/pkg/admission/nodedeclaredfeatures). component-helpers defines the features and the changes that need them.
//
// Not modelled: devices with nodeAllocatableResources, whose gate is off.
type NodeFeatures struct {
	// Node returns the node, or nil if it does not exist.
	Node func(ctx context.Context, name string) (*corev1.Node, error)
}

// release is the version of Kubernetes. Features that all nodes of this version have are not checked.
var release = version.MustParse(componentversion.DefaultKubeBinaryVersion)

// Validate implements Validator. Only a change of the spec increments the generation.
func (p *NodeFeatures) Validate(ctx context.Context, a *Attributes) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok || a.Operation != Update || a.Subresource != "" && a.Subresource != "resize" || pod.Spec.NodeName == "" {
		return nil
	}
	old := a.Old.(*corev1.Pod)
	if old.Generation == pod.Generation {
		return nil
	}
	needs, err := nodedeclaredfeatures.DefaultFramework.InferForPodUpdate(podInfo(old), podInfo(pod), release)
	if err != nil || needs.IsEmpty() {
		return err
	}
	node, err := p.Node(ctx, pod.Spec.NodeName)
	switch {
	case err != nil:
		return &LookupError{What: "reading node " + pod.Spec.NodeName, Err: err}
	case node == nil:
		return fmt.Errorf("node %q not found", pod.Spec.NodeName)
	}
	match, err := nodedeclaredfeatures.DefaultFramework.MatchNode(needs, node)
	if err != nil || match.IsMatch {
		return err
	}
	return fmt.Errorf("pod update requires features %s which are not available on node %q",
		strings.Join(match.UnsatisfiedRequirements, ", "), node.Name)
}

func podInfo(p *corev1.Pod) *types.PodInfo {
	return &types.PodInfo{Spec: &p.Spec, Status: &p.Status}
}
