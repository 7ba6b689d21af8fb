package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// deleteMalformed is kube-apiserver's gate for deleting objects that can't be decoded; alpha in v1.36.
const deleteMalformed = "AllowUnsafeMalformedObjectDeletion"

// Gates are the feature gates of kube-apiserver v1.36 that have an effect here, with their defaults there.
func Gates() map[string]bool { return map[string]bool{deleteMalformed: false} }

// featureGates are all gates; those that are not set have their defaults.
func (c *Config) featureGates() (map[string]bool, error) {
	all := Gates()
	for _, name := range slices.Sorted(maps.Keys(c.Gates)) {
		if _, known := all[name]; !known {
			return nil, fmt.Errorf("--feature-gates: unrecognized feature gate: %s; the feature gates are %s",
				name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		all[name] = c.Gates[name]
	}
	return all, nil
}
