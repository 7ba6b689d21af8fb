package simulation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestParseNodes: documents and lists of Nodes are accepted, and what a server had set is removed.
func TestParseNodes(t *testing.T) {
	nodes, err := ParseNodes([]byte(`# a comment
---
apiVersion: v1
kind: Node
metadata: {name: a, uid: u, resourceVersion: "7", labels: {kubernetes.io/os: windows}}
status:
  capacity: {cpu: "2"}
  conditions: [{type: Ready, status: "True", message: kubelet is posting ready status}]
---
{"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "b"},
 "status": {"conditions": [{"type": "Ready", "status": "False"}]}}]}
`))
	if err != nil || len(nodes) != 2 {
		t.Fatalf("%v, %v", nodes, err)
	}
	a, b := nodes[0], nodes[1]
	if a.UID != "" || a.ResourceVersion != "" || len(a.Status.Conditions) != 0 ||
		a.Labels[corev1.LabelOSStable] != "windows" ||
		a.Labels[corev1.LabelHostname] != "a" || a.Status.Allocatable.Cpu().Value() != 2 ||
		a.Status.Allocatable.Pods().Value() != 110 {
		t.Errorf("%+v", a)
	}
	if ready(b) != 0 || b.Status.Capacity.Pods().Value() != 1000000 {
		t.Errorf("%+v", b)
	}
}

// TestParseNodesErrors: an error names the document or the node.
func TestParseNodesErrors(t *testing.T) {
	node := func(name string) string { return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\n" }
	for data, want := range map[string]string{
		"":                              "no node is declared",
		"# nothing":                     "no node is declared",
		node("a") + node("a"):           `node "a" is declared twice`,
		node(""):                        "a node has no name",
		node("a") + "---\nkind: Pod\n":  `document 2: apiVersion "" and kind "Pod" are not those of a Node or a List`,
		"x: y":                          `document 1: apiVersion "" and kind "" are not those of a Node or a List`,
		node("a") + "spec: {tains: []}": `unknown field "tains"`,
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}]": "document 1: item 0 is a v1 Pod, not a v1 Node",
	} {
		if _, err := ParseNodes([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", data, err, want)
		}
	}
	var many strings.Builder
	for i := range maxNodes + 1 {
		many.WriteString(node("n" + strings.Repeat("x", i%60) + string(rune('a'+i/60))))
	}
	_, err := ParseNodes([]byte(many.String()))
	if err == nil || err.Error() != "1001 nodes are declared, more than 1000" {
		t.Error(err)
	}
}
