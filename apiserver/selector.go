package apiserver

import (
	"net/url"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// checkSelectorLengths rejects queries with a selector that is too long, before it is parsed.
func checkSelectorLengths(q url.Values) error {
	for _, name := range []string{"labelSelector", "fieldSelector"} {
		for _, text := range q[name] {
			if err := checkSelector(name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkSelector(name, text string) error {
	if len(text) > registry.MaxSelector {
		return status.Oversized("%s has %d bytes, the allowed maximum is %d", name, len(text), registry.MaxSelector)
	}
	if n := strings.Count(text, ",") + 1; n > registry.MaxTerms {
		return status.Oversized("%s has %d terms and values, the allowed maximum is %d", name, n, registry.MaxTerms)
	}
	return nil
}
