package admission

import (
	"fmt"
	"slices"
	"strings"
)

// Choice is a plugin with whether it runs unless somebody says otherwise.
type Choice struct {
	Plugin
	Default bool
}

// Choose returns the chain of the plugins that are on, in the given order. enable and disable are
// the words of --enable-admission-plugins and --disable-admission-plugins.
func Choose(all []Choice, enable, disable []string) (Chain, error) {
	var names []string
	for _, c := range all {
		names = append(names, c.Name())
	}
	for _, list := range [][]string{enable, disable} {
		for _, name := range list {
			if !slices.Contains(names, name) {
				return nil, fmt.Errorf("admission plugin %q is not known; there are %s", name, strings.Join(names, ", "))
			}
		}
	}
	var chain Chain
	for _, c := range all {
		on, off := slices.Contains(enable, c.Name()), slices.Contains(disable, c.Name())
		if on && off {
			return nil, fmt.Errorf("admission plugin %q is both enabled and disabled", c.Name())
		}
		if on || c.Default && !off {
			chain = append(chain, c.Plugin)
		}
	}
	return chain, nil
}
