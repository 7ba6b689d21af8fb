package cluster

import (
	"context"
	"strings"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// Owners returns the owners of all objects but Events, as "Kind/name" separated by commas. The names of the objects are
// "resource namespace/name".
func Owners(ctx context.Context, from Source) (map[string]string, error) {
	d, err := from.Discover(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, r := range d.Resources {
		if !r.Listed || r.Plural == "events" {
			continue
		}
		err := from.List(ctx, r, Selector{}, func(o *explain.Object, _ []byte) {
			var owners []string
			for _, owner := range o.Owners {
				owners = append(owners, owner.Kind+"/"+owner.Name)
			}
			all[r.Name()+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")] = strings.Join(owners, ",")
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
