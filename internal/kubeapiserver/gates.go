package kubeapiserver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubecascade/kubecascade/internal/featuregates"
)

// setGates sets the flag of serve by the pairs, each "gate=true" or "kube:gate=true"; the last pair for a gate counts
// (component-base compatibility/registry.go: Set; featuregate/feature_gate.go: Set, SetFromMap). Dependencies between
// gates are not validated.
func (f *Flags) setGates() error {
	names, given, err := parseGates(f.gates)
	if err != nil {
		return err
	}
	errs := featuregates.Check(names, given)
	if len(errs) == 1 && errors.Is(errs[0], featuregates.ErrUnrecognized) {
		return errs[0]
	}
	for _, name := range names {
		if g := featuregates.Known()[name]; (!g.Locked || g.On == given[name]) &&
			(g.Stage == featuregates.Deprecated || g.Stage == featuregates.GA) {
			f.Fading = append(f.Fading, name)
		}
	}
	for name, on := range given {
		errs = append(errs, f.set("feature-gates", fmt.Sprintf("%s=%t", name, on)))
	}
	return utilerrors.NewAggregate(errs)
}

// parseGates returns the names in the order in which they were given first.
func parseGates(list []string) (names []string, on map[string]bool, err error) {
	on, prefixed := map[string]bool{}, map[bool]bool{}
	for _, pair := range list {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, text, ok := strings.Cut(pair, "=")
		component, rest, colon := strings.Cut(name, ":")
		if colon {
			if component != "kube" {
				return nil, nil, fmt.Errorf("component not registered: %s", component)
			}
			name = rest
		}
		prefixed[colon] = true
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		if !ok {
			return nil, nil, fmt.Errorf("missing bool value for %s", name)
		}
		value, err := strconv.ParseBool(text)
		if err != nil {
			return nil, nil, fmt.Errorf("invalid value of %s=%s, err: %w", name, text, err)
		}
		if _, twice := on[name]; !twice {
			names = append(names, name)
		}
		on[name] = value
	}
	if len(prefixed) > 1 {
		return nil, nil, errors.New(
			"set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use")
	}
	return names, on, nil
}
