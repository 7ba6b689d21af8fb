package codec

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"
)

// errAliases is the error for a document with too many aliases. It has the message of the YAML library, whose own limit
// is too weak: it counts nodes instead of bytes, so a document may repeat a long string hundreds of thousands of times.
var errAliases = errors.New("yaml: document contains excessive aliasing")

// checkAliases returns an error for a YAML document that is larger than MaxBody (0-14) after the expansion of its
// aliases. A few bytes can expand to more than any memory can hold.
func checkAliases(data []byte) error {
	if !bytes.ContainsRune(data, '*') || !bytes.ContainsRune(data, '&') {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return err
	}
	// Each node is visited once. No alias is expanded.
	sizes := map[*yaml.Node]int{}
	var size func(n *yaml.Node) int
	size = func(n *yaml.Node) int {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if known, ok := sizes[n]; ok {
			return known
		}
		sizes[n] = MaxBody + 1 // for a node that contains itself
		sum := len(n.Value) + 1
		for _, c := range n.Content {
			sum = min(sum+size(c), MaxBody+1)
		}
		sizes[n] = sum
		return sum
	}
	if size(&root) > MaxBody {
		return errAliases
	}
	return nil
}
