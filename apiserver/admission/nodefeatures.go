package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	componentversion "k8s.io/component-base/version"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"
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

// Name implements Plugin.
func (*NodeFeatures) Name() string { return "NodeDeclaredFeatureValidator" }

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
	needs := needed(old, pod)
	if len(needs) == 0 {
		return nil
	}
	node, err := p.Node(ctx, pod.Spec.NodeName)
	switch {
	case err != nil:
		return &LookupError{What: "reading node " + pod.Spec.NodeName, Err: err}
	case node == nil:
		return fmt.Errorf("node %q not found", pod.Spec.NodeName)
	}
	lacks := slices.DeleteFunc(needs, func(f string) bool { return slices.Contains(node.Status.DeclaredFeatures, f) })
	if len(lacks) > 0 {
		return fmt.Errorf("pod update requires features %s which are not available on node %q",
			strings.Join(lacks, ", "), node.Name)
	}
	return nil
}

// needed returns the features that a change of a pod needs, sorted (nodedeclaredfeatures.Framework: InferForPodUpdate).
func needed(old, pod *corev1.Pod) (names []string) {
	for _, f := range features.AllFeatures {
		if last := f.MaxVersion(); last != nil && release.GreaterThan(last) {
			continue // every node has it
		}
		if f.InferForUpdate(podInfo(old), podInfo(pod)) {
			names = append(names, f.Name())
		}
	}
	slices.Sort(names)
	return names
}

func podInfo(p *corev1.Pod) *types.PodInfo {
	return &types.PodInfo{Spec: &p.Spec, Status: &p.Status}
}
