package explain

import (
	"slices"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// connected returns the objects that a deletion of the given ones can concern: all that are joined with them by owner
// references, in both directions, by a namespace that is being deleted or would be, or by a CRD.
func (x *index) connected(from []graph.Key) (found []*Object) {
	seen, joined := map[*Object]bool{}, map[string]bool{}
	add := func(objects ...*Object) {
		for _, o := range objects {
			if o != nil && !seen[o] {
				seen[o] = true
				found = append(found, o)
			}
		}
	}
	join := func(uid string) { // once for all dependents of an owner
		if !joined[uid] {
			joined[uid] = true
			add(x.uids[uid]...)
			add(x.dependents[uid]...)
		}
	}
	for _, k := range from {
		add(x.keys[k])
	}
	for i := 0; i < len(found); i++ {
		for _, owner := range found[i].Owners {
			join(owner.UID)
		}
		join(found[i].UID)
		add(x.content(found[i])...)
	}
	slices.SortFunc(found, func(a, b *Object) int { return a.Key.Compare(b.Key) })
	return found
}

// content returns what is deleted before the object is: the objects of a namespace, or of a CRD.
func (x *index) content(o *Object) (content []*Object) {
	r := x.resources[o.Collection]
	switch {
	case r == nil:
	case r.Delete.Namespace:
		return x.namespaces[o.Name]
	case r.Delete.Cleanup != "":
		for i := range x.c.Objects {
			if p := &x.c.Objects[i]; p.Collection == o.defines() {
				content = append(content, p)
			}
		}
	}
	return content
}
