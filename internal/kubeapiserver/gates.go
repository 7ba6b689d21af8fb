package kubeapiserver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubecascade/kubecascade/internal/featuregates"
)

// setGates sets the flag of serve by the pairs, each "gate=true" or "kube:gate=true", of which the last one for a gate
// counts (component-base compatibility/registry.go: Set; featuregate/feature_gate.go: Set, SetFromMap). That a gate
// needs another one is not validated.
func (f *Flags) setGates() error {
	given, err := parseGates(f.gates)
	if err != nil {
		return err
	}
	errs := featuregates.Check(given.names, given.on)
	if len(errs) == 1 && errors.Is(errs[0], featuregates.ErrUnrecognized) {
		return errs[0]
	}
	for _, name := range given.names {
		if g := featuregates.Known()[name]; (!g.Locked || g.On == given.on[name]) &&
			(g.Stage == featuregates.Deprecated || g.Stage == featuregates.GA) {
			f.Fading = append(f.Fading, name)
		}
	}
	for name, on := range given.on {
		errs = append(errs, f.set("feature-gates", fmt.Sprintf("%s=%t", name, on)))
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
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
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
