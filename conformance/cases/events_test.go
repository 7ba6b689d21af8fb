package cases

import "testing"

// TestMessageMayHaveFurtherAttributes: a message may have further attributes of the owner, but no other values for the
// expected ones.
func TestMessageMayHaveFurtherAttributes(t *testing.T) {
	const want = `ownerRef [v1/ConfigMap, namespace: ns, name: owner, uid: u] does not exist in namespace "ns"`
	for message, ok := range map[string]bool{
		want: true,

		`ownerRef [v1/ConfigMap, cluster: root:a, namespace: ns, name: owner, uid: u] does not exist in namespace "ns"`: true,

		`ownerRef [v1/ConfigMap, namespace: ns, name: owner, uid: u, x: y] does not exist in namespace "ns"`:    true,
		`ownerRef [v1/ConfigMap, namespace: ns, name: owner] does not exist in namespace "ns"`:                  false,
		`ownerRef [v1/ConfigMap, namespace: ns, name: b, name: owner, uid: u] does not exist in namespace "ns"`: false,
		`ownerRef [v1/ConfigMap, namespace: ns, name: owner, uid: u] does not exist in namespace "other"`:       false,
		`the ownerRef [v1/ConfigMap, namespace: ns, name: owner, uid: u] does not exist in namespace "ns"`:      false,
		`ownerRef v1/ConfigMap`: false,
		"":                      false,
	} {
		if withAdditions(message, want) != ok {
			t.Errorf("%q: %t", message, !ok)
		}
	}
}
