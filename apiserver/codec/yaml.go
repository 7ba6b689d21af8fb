package codec

import (
	"bytes"
	"encoding/json"
	"errors"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// errAliases has the message of the YAML library, whose limit is weaker: it counts nodes and not bytes, so a long
// string may be repeated hundreds of thousands of times.
var errAliases = errors.New("yaml: document contains excessive aliasing")

// CheckYAML rejects a document that would take more work than its size suggests.
func CheckYAML(data []byte) error {
	if json.Valid(data) {
		return CheckWork(data)
	}
	if err := CheckAliases(data); err != nil {
		return err
	}
	j, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		return err
	}
	return CheckWork(j)
}

// CheckAliases rejects a YAML document that exceeds the limit of a body (0-14) when its aliases are expanded: a few
// bytes can expand to more than fits into any memory.
func CheckAliases(data []byte) error {
	if !bytes.ContainsRune(data, '*') || !bytes.ContainsRune(data, '&') {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return err
	}
	u := unfolding{sizes: map[*yaml.Node]int{}}
	if u.size(&root) > MaxBody {
		return errAliases
	}
	return nil
}

// unfolding computes the sizes of nodes with their aliases expanded. Each node is visited once, and nothing is
// expanded.
type unfolding struct{ sizes map[*yaml.Node]int }

// size is at most MaxBody+1, also for a node that contains itself.
func (u *unfolding) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, ok := u.sizes[n]; ok {
		return size
	}
	u.sizes[n] = MaxBody + 1 // for a node that contains itself
	size := len(n.Value) + 1
	for _, c := range n.Content {
		size = min(size+u.size(c), MaxBody+1)
	}
	u.sizes[n] = size
	return size
}
