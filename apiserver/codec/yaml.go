package codec

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// errAliases is worded as the YAML library words its own, weaker, bound, which counts nodes and not
// bytes: a long text may still be named hundreds of thousands of times.
var errAliases = errors.New("yaml: document contains excessive aliasing")

// CheckYAML rejects a document that would take more work than its size suggests.
func CheckYAML(data []byte) error {
	if err := CheckAliases(data); err != nil {
		return err
	}
	j, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		return err
	}
	return CheckWork(j)
}

// CheckAliases rejects a YAML document whose aliases make it larger than a body may be (0-14): a
// few bytes can stand for more than any machine has.
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

// unfolding measures nodes with their aliases written out. A node is measured once, and nothing is
// written out.
type unfolding struct{ sizes map[*yaml.Node]int }

// size is at most one more than maxBody; so is that of a node that contains itself.
func (u *unfolding) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, ok := u.sizes[n]; ok {
		return size
	}
	u.sizes[n] = MaxBody + 1 // for who comes here again from below
	size := len(n.Value) + 1
	for _, c := range n.Content {
		size = min(size+u.size(c), MaxBody+1)
	}
	u.sizes[n] = size
	return size
}
