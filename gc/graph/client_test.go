package graph

import (
	"fmt"
	"maps"
	"slices"
)

// client sends one random request of a client.
func (p *play) client() {
	keys := slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare)
	if len(keys) == 0 || p.r.IntN(3) == 0 {
		p.create()
		return
	}
	t := p.w.objects[keys[p.r.IntN(len(keys))]]
	if t.Flags.Has(Broken) {
		return // the server rejects every request
	}
	switch p.r.IntN(11) {
	case 0, 1, 2:
		policy := Policy(p.r.IntN(3))
		p.log("client deletes %s %s", t.Key, policy)
		p.w.delete(t, policy)
	case 3:
		p.log("client unholds %s", t.Key)
		t.holds = nil
		p.w.write(t)
	case 4:
		p.log("client takes the finalizers of %s", t.Key)
		t.Flags &^= OrphanFinalizer | ForegroundFinalizer
		p.w.write(t)
	case 5:
		p.toggleKind()
	case 9:
		if !p.single {
			p.log("%s can't be read", t.Key)
			t.Flags |= Broken
			p.w.put(t)
		}
	case 6:
		p.w.write(t)
	default:
		was := t.Owners
		t.Owners = p.owners(t.Namespace)
		p.renamed = p.renamed || slices.ContainsFunc(t.Owners, func(o Owner) bool {
			return slices.ContainsFunc(was, func(w Owner) bool { return w.UID == o.UID && (w.Name != o.Name || w.Kind != o.Kind) })
		})
		maps.DeleteFunc(p.freed, func(f [2]string, _ bool) bool { return f[0] == t.UID })
		p.log("client gives %s the owners %v", t.Key, t.Owners)
		p.w.write(t)
	}
}

// toggleKind stops serving a kind, or serves one that wasn't served.
func (p *play) toggleKind() {
	if p.single {
		return
	}
	if n := len(p.w.kinds); n == len(defaultKinds) || p.r.IntN(3) == 0 && n > 1 {
		i := p.r.IntN(n)
		p.log("%v is no longer served", p.w.kinds[i])
		p.w.kinds = slices.Delete(slices.Clone(p.w.kinds), i, i+1)
	} else {
		p.log("all kinds are served")
		p.w.kinds = slices.Clone(defaultKinds)
	}
	p.w.timeline = append(p.w.timeline, Kinds{p.w.kinds})
}

// repair makes all kinds served and all objects readable again.
func (p *play) repair() {
	p.w.kinds = slices.Clone(defaultKinds)
	p.w.timeline = append(p.w.timeline, Kinds{p.w.kinds})
	for _, k := range slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare) {
		if t := p.w.objects[k]; t.Flags.Has(Broken) {
			t.Flags &^= Broken
			p.w.write(t)
		}
	}
}

// restore creates recently removed objects again with their uids, as from a backup (J-17).
func (p *play) restore() {
	n := len(p.w.dead)
	if p.single || n == 0 {
		return
	}
	t := p.w.dead[n-1-p.r.IntN(min(n, 4))]
	if p.w.objects[t.Key] != nil || p.w.byUID(t.UID) != nil || p.received.byUID(t.UID) != nil {
		return
	}
	p.log("client restores %s %s", t.Key, t.UID)
	p.restored[t.UID] = true
	p.w.put(&thing{Object: Object{Key: t.Key, UID: t.UID}})
}

func (p *play) create() {
	if p.r.IntN(8) == 0 {
		p.restore()
		return
	}
	t := &thing{}
	switch p.r.IntN(6) {
	case 0:
		t.Collection = "persistentvolumes"
	case 1:
		t.Collection = "events"
	default:
		t.Collection = []string{"configmaps", "secrets", "stable.example.com/crontabs"}[p.r.IntN(3)]
	}
	if t.Collection != "persistentvolumes" {
		t.Namespace = []string{"a", "b"}[p.r.IntN(2)]
	}
	t.Name = fmt.Sprint("n", p.r.IntN(6))
	if p.w.objects[t.Key] != nil {
		return
	}
	p.uids++
	t.UID = fmt.Sprint("u", p.uids)
	if p.shared && p.r.IntN(3) == 0 {
		t.UID = fmt.Sprint("u", 1+p.r.IntN(p.uids))
	}
	t.Flags = []Flags{0, 0, 0, 0, OrphanFinalizer, ForegroundFinalizer}[p.r.IntN(6)]
	if p.r.IntN(4) == 0 {
		t.holds = []string{"x/y"}
	}
	t.Owners = p.owners(t.Namespace)
	p.log("client creates %s %s %v %v", t.Key, t.UID, t.Flags, t.Owners)
	p.w.put(t)
}

// owners returns random references, most of them correct.
func (p *play) owners(namespace string) []Owner {
	keys := slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare)
	if len(keys) == 0 {
		return nil
	}
	n := p.r.IntN(3)
	if p.single {
		n = min(n, 1)
	}
	var owners []Owner
	for range n {
		x := p.w.objects[keys[p.r.IntN(len(keys))]]
		for range 4 {
			if x.Namespace == "" || x.Namespace == namespace {
				break
			}
			x = p.w.objects[keys[p.r.IntN(len(keys))]]
		}
		api, kind := p.w.nameOf(x.Collection)
		o := Owner{api, kind, x.Name, x.UID, p.r.IntN(2) == 0}
		mistake := p.r.IntN(20)
		if p.single {
			// A reference with an object's uid and other coordinates is dangling by them and released by
			// that uid (D-62), whichever comes first.
			if mistake != 1 {
				mistake = 5
			}
			if x.Namespace != "" && x.Namespace != namespace {
				continue
			}
		}
		switch mistake {
		case 0:
			o.Name = "wrong"
		case 1:
			o.Kind = "Unheard"
		case 2:
			o.UID = fmt.Sprint("u", p.r.IntN(p.uids+1))
		case 3:
			o.APIVersion, o.Kind = "v1", "Secret"
		case 4:
			o.APIVersion = "stable.example.com/v1beta1"
		}
		owners = append(owners, o)
	}
	return owners
}
