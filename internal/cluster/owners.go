package cluster

import (
	"context"
	"strings"
	"time"
)

// Owners returns the owners of all objects but Events, as "Kind/name" separated by commas, by the resource and the
// "namespace/name" of the object. unknown has the resources whose objects are not known, and "*.GROUP" for a group that
// does not answer, with the reasons.
func Owners(ctx context.Context, from Source) (owners map[[2]string]string, unknown map[string]string, err error) {
	got, _, err := Read(ctx, from, Options{Now: time.Now})
	if err != nil {
		return nil, nil, err
	}
	owners, unknown = map[[2]string]string{}, map[string]string{}
	for _, o := range got.Objects {
		if o.Collection == "events" {
			continue
		}
		var names []string
		for _, owner := range o.Owners {
			names = append(names, owner.Kind+"/"+owner.Name)
		}
		owners[[2]string{o.Collection, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")}] = strings.Join(names, ",")
	}
	for _, h := range got.Hidden() {
		unknown[h.Resource] = h.Why
	}
	for _, u := range got.Unavailable {
		_, group, _ := strings.Cut(u.Name, ".")
		unknown["*."+group] = u.Message
	}
	return owners, unknown, nil
}
