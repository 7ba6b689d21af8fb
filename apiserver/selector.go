package apiserver

import (
	"net/url"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
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

func checkSelector(name, selector string) error {
	if long := invalid.LongSelector(selector); long != "" {
		return status.Oversized("%s %s", name, long)
	}
	return nil
}
