package kubeapiserver

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// known are the feature gates of kube-apiserver, one a line: those of k8s.io/apiserver, apiextensions-apiserver,
// component-base and client-go v0.36, and those of K pkg/features/kube_features.go.
//
//go:embed gates.txt
var known string

// effective are the gates that kubecascade.Options know.
var effective = []string{"AllowUnsafeMalformedObjectDeletion"}

// setGates parses the pairs, each "gate=true" or "kube:gate=true". Those of other components are an error there, too
// (component-base compatibility/registry.go: SetFeatureGates; featuregate/feature_gate.go: SetFromMap).
func (s *Settings) setGates(v pflag.Value) error {
	all := strings.Fields(known)
	s.Options.API.FeatureGates = map[string]bool{}
	for _, pair := range v.(pflag.SliceValue).GetSlice() {
		name, text, _ := strings.Cut(pair, "=")
		if component, rest, ok := strings.Cut(name, ":"); ok {
			if component != "kube" {
				return fmt.Errorf("component not registered: %s", component)
			}
			name = rest
		}
		on, err := strconv.ParseBool(text)
		switch {
		case !slices.Contains(all, name):
			return fmt.Errorf("unrecognized feature gate: %s", name)
		case err != nil:
			return fmt.Errorf("invalid value of %s: %s, err: %w", name, text, err)
		case slices.Contains(effective, name):
			s.Options.API.FeatureGates[name] = on
		}
	}
	return nil
}
