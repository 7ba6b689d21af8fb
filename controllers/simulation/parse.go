package simulation

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// maxNodes is the maximum number of nodes in a file: each costs a write in 30 seconds.
const maxNodes = 1000

// ReadNodes returns the Nodes of the file of --simulate-nodes.
func ReadNodes(file string) ([]*corev1.Node, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--simulate-nodes: %w", err)
	}
	nodes, err := ParseNodes(data)
	if err != nil {
		return nil, fmt.Errorf("--simulate-nodes %s: %w", file, err)
	}
	return nodes, nil
}

// ParseNodes returns the Nodes in YAML documents or JSON, each a Node or a List of them. It removes the fields that a
// server sets, so that the Nodes may come from another cluster: a node that was ready there is simulated. Errors name
// the document or the node.
func ParseNodes(data []byte) (nodes []*corev1.Node, err error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for i := 1; ; i++ {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		list, err := parseDocument(doc)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		nodes = append(nodes, list...)
	}
	seen := map[string]bool{}
	for _, n := range nodes {
		switch {
		case n.Name == "":
			return nil, errors.New("a node has no name")
		case seen[n.Name]:
			return nil, fmt.Errorf("node %q is declared twice", n.Name)
		}
		seen[n.Name] = true
		fresh(n)
	}
	switch {
	case len(nodes) == 0:
		return nil, errors.New("no node is declared")
	case len(nodes) > maxNodes:
		return nil, fmt.Errorf("%d nodes are declared, more than %d", len(nodes), maxNodes)
	}
	return nodes, nil
}

// parseDocument returns the nodes of one document; none if it is empty.
func parseDocument(doc []byte) ([]*corev1.Node, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &kind); err != nil {
		return nil, err
	}
	switch {
	case kind == metav1.TypeMeta{}:
		var any map[string]any
		if err := yaml.Unmarshal(doc, &any); err != nil || len(any) == 0 {
			return nil, err
		}
	case kind.APIVersion == "v1" && kind.Kind == "Node":
		n := &corev1.Node{}
		return []*corev1.Node{n}, yaml.UnmarshalStrict(doc, n)
	case kind.APIVersion == "v1" && (kind.Kind == "List" || kind.Kind == "NodeList"):
		var list corev1.NodeList
		if err := yaml.UnmarshalStrict(doc, &list); err != nil {
			return nil, err
		}
		var out []*corev1.Node
		for i := range list.Items {
			n := &list.Items[i]
			if n.Kind != "" && (n.APIVersion != "v1" || n.Kind != "Node") {
				return nil, fmt.Errorf("item %d is a %s %s, not a v1 Node", i, n.APIVersion, n.Kind)
			}
			out = append(out, n)
		}
		return out, nil
	}
	return nil, fmt.Errorf("apiVersion %q and kind %q are not those of a Node or a List", kind.APIVersion, kind.Kind)
}

// fresh makes a node as a kubelet registers it. A condition Ready that isn't True stays: such a node is not ready.
func fresh(n *corev1.Node) {
	n.ObjectMeta = metav1.ObjectMeta{
		Name: n.Name, Labels: n.Labels, Annotations: n.Annotations, Finalizers: n.Finalizers,
	}
	label(n)
	equip(n)
	if i := ready(n); i >= 0 && n.Status.Conditions[i].Status == corev1.ConditionTrue {
		n.Status.Conditions = append(n.Status.Conditions[:i:i], n.Status.Conditions[i+1:]...)
	}
}
