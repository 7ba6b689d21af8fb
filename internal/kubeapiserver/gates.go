package kubeapiserver

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// known are the feature gates of kube-apiserver, one a line. The file says where they are from.
//
//go:embed gates.txt
var known string

// stage is how far a feature is.
type stage string

// The stages, as component-base featuregate/feature_gate.go has them. GA is "", and Beta and Alpha are in capitals
// there.
const (
	alpha      stage = "Alpha"
	beta       stage = "Beta"
	ga         stage = "GA"
	deprecated stage = "Deprecated"
	// unknown is one of the last two, or the gate was removed.
	unknown stage = "Unknown"
)

// allAlpha and allBeta set all gates of a stage that are not set.
const (
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// gate is a feature gate.
type gate struct {
	stage  stage
	on     bool
	locked bool
}

// gates parses a list of gates.
func gates(list string) (map[string]gate, error) {
	all := map[string]gate{}
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 3 && (len(f) != 4 || f[3] != "locked") ||
			!slices.Contains([]stage{alpha, beta, ga, deprecated, unknown}, stage(f[1])) {
			return nil, fmt.Errorf("feature gates: %q", line)
		}
		on, err := strconv.ParseBool(f[2])
		if err != nil {
			return nil, fmt.Errorf("feature gates: %q: %w", line, err)
		}
		all[f[0]] = gate{stage(f[1]), on, len(f) == 4}
	}
	return all, nil
}

// effective are the gates that kubecascade.Options know.
var effective = []string{"AllowUnsafeMalformedObjectDeletion"}

// setGates parses and validates the pairs, each "gate=true" or "kube:gate=true", of which the last one for a gate
// counts (component-base compatibility/registry.go: Set; featuregate/feature_gate.go: Set, SetFromMap). That a gate
// needs another one is not validated.
func (s *Settings) setGates(v pflag.Value) error {
	all, err := gates(known)
	if err != nil {
		return err
	}
	given, err := parseGates(v.(pflag.SliceValue).GetSlice())
	if err != nil {
		return err
	}
	var errs []error
	s.Options.API.FeatureGates = map[string]bool{}
	for _, name := range given.names {
		g, ok := all[name]
		on := given.on[name]
		switch {
		case !ok:
			return fmt.Errorf("unrecognized feature gate: %s", name)
		case g.locked && g.on != on:
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, on, g.on))
		case g.stage == deprecated || g.stage == ga:
			s.Fading = append(s.Fading, name)
		}
	}
	for _, name := range effective {
		on, set := given.on[name]
		if every, ok := given.on[map[stage]string{alpha: allAlpha, beta: allBeta}[all[name].stage]]; ok && !set {
			on, set = every, true
		}
		if set {
			s.Options.API.FeatureGates[name] = on
		}
	}
	return utilerrors.NewAggregate(errs)
}

// pairsOfGates are values of gates.
type pairsOfGates struct {
	names []string // in the order in which they were given first
	on    map[string]bool
}

func parseGates(list []string) (p pairsOfGates, err error) {
	p.on = map[string]bool{}
	prefixed := map[bool]bool{}
	for _, pair := range list {
		name, text, ok := strings.Cut(pair, "=")
		component, rest, colon := strings.Cut(name, ":")
		if colon {
			if component != "kube" {
				return p, fmt.Errorf("component not registered: %s", component)
			}
			name = rest
		}
		prefixed[colon] = true
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		if !ok {
			return p, fmt.Errorf("missing bool value for %s", name)
		}
		on, err := strconv.ParseBool(text)
		if err != nil {
			return p, fmt.Errorf("invalid value of %s=%s, err: %w", name, text, err)
		}
		if _, twice := p.on[name]; !twice {
			p.names = append(p.names, name)
		}
		p.on[name] = on
	}
	if len(prefixed) > 1 {
		return p, errors.New(
			"set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use")
	}
	return p, nil
}
