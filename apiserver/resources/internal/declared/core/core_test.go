package core

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/operation"
)

// TestEvictionResponderNamesAreReserved: the domains of Kubernetes and the priorities of its responders are reserved.
func TestEvictionResponderNamesAreReserved(t *testing.T) {
	const name = "domain names *.k8s.io, *.kubernetes.io are reserved"
	const priority = "priorities 0-999 are reserved for responders with *.k8s.io suffix"
	for _, c := range []struct {
		name     string
		priority int32
		want     []string
	}{
		{"example.com/a", 1000, nil},
		{"example.com/k8s.io", 100000, nil},
		{"xk8s.io/a", -1, nil},
		{"k8s.io/a", 0, []string{name, priority}},
		{"a.kubernetes.io/a", 999, []string{name, priority}},
		{"K8s.IO./a", 1000, []string{name}},
	} {
		var got []string
		r := &corev1.EvictionResponder{Name: c.name, Priority: &c.priority}
		for _, err := range Validate_EvictionResponder(context.Background(), operation.Operation{}, nil, r, nil) {
			if strings.Contains(err.Detail, "reserved") {
				got = append(got, err.Detail)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %d: %q, want %q", c.name, c.priority, got, c.want)
		}
	}
}
