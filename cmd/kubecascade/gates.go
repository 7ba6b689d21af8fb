package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// deleteMalformed is kube-apiserver's gate for deleting objects that can't be decoded; alpha in v1.36.
const deleteMalformed = "AllowUnsafeMalformedObjectDeletion"

// gates are the feature gates of kube-apiserver v1.36 that have an effect here, with their defaults there.
func gates() map[string]bool { return map[string]bool{deleteMalformed: false} }

// featureGates parses --feature-gates.
func (o *options) featureGates() (map[string]bool, error) {
	all := gates()
	for _, name := range slices.Sorted(maps.Keys(o.gates)) {
		if _, known := all[name]; !known {
			return nil, fmt.Errorf("--feature-gates: unrecognized feature gate: %s; the feature gates are %s",
				name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		on, err := strconv.ParseBool(o.gates[name])
		if err != nil {
			return nil, fmt.Errorf("--feature-gates: %s=%s is neither true nor false", name, o.gates[name])
		}
		all[name] = on
	}
	return all, nil
}
