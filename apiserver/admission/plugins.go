package admission

import (
	"fmt"
	"slices"
	"strings"
)

// Choice is a plugin, by the name with which flags enable and disable it.
type Choice struct {
	Name string
	// On are the operations for which upstream calls the plugin (NewHandler in plugin/pkg/admission and AS
	// pkg/admission/plugin). There are none for a plugin that Kubernetes does not have.
	On []Operation
	// Default reports whether it is enabled by default.
	Default bool
	// Plugin is a Mutator, a Validator, or both.
	Plugin any
}

// CheckNames returns an error for the first name that kube-apiserver does not have, or that is both enabled and
// disabled (AS pkg/server/options/admission.go: Validate). A list may contain a name twice.
func CheckNames(enable, disable []string) error {
	for _, list := range [][]string{enable, disable} {
		for _, name := range list {
			if !slices.Contains(pluginNames, name) {
				return fmt.Errorf("unknown admission plugin %q; the plugins are %s", name, strings.Join(pluginNames, ", "))
			}
		}
	}
	for _, name := range enable {
		if slices.Contains(disable, name) {
			return fmt.Errorf("admission plugin %q is both enabled and disabled", name)
		}
	}
	return nil
}

// Choose returns the chain of the enabled plugins, in the given order. enable and disable are the values of
// --enable-admission-plugins and --disable-admission-plugins. absent are the enabled plugins of kube-apiserver that
// this server does not have. They have no effect.
func Choose(all []Choice, enable, disable []string) (chain Chain, absent []string, err error) {
	if err := CheckNames(enable, disable); err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		if slices.Contains(enable, c.Name) || c.Default && !slices.Contains(disable, c.Name) {
			chain = append(chain, c)
		}
	}
	for _, name := range pluginNames {
		has := slices.ContainsFunc(all, func(c Choice) bool { return c.Name == name })
		if slices.Contains(enable, name) && !has {
			absent = append(absent, name)
		}
	}
	return chain, absent, nil
}
