package server

import (
	"fmt"

	"github.com/kubecascade/kubecascade/internal/featuregates"
)

// Gates are the feature gates of kube-apiserver that have an effect here, with their defaults there.
func Gates() map[string]bool {
	all := map[string]bool{}
	for _, name := range featuregates.Effective() {
		all[name] = featuregates.Known()[name].On
	}
	return all
}

// featureGates are all gates of kube-apiserver; those that are not set have their defaults.
func (c *Config) featureGates() (map[string]bool, error) {
	all, err := featuregates.Resolve(c.Gates)
	if err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	return all, nil
}
