package model

import (
	"slices"
)

// ownerState is the state of a reference's owner (D-35).
type ownerState uint8

const (
	solid ownerState = iota
	waiting
	dangling
	// unknown: the owner can't be looked up (D-37, D-38, D-73).
	unknown
)

// classify looks up an owner as a GET in the dependent's namespace would (D-36).
func (s State) classify(o Object, r Owner) ownerState {
	k, ok := served(r.APIVersion, r.Kind)
	if !ok {
		return unknown
	}
	at := Key{r.Kind, "", r.Name}
	if k.Namespaced {
		if at.Namespace = o.Namespace; at.Namespace == "" {
			return unknown
		}
	}
	owner, ok := s[at]
	switch {
	case !ok || owner.UID != r.UID: // D-71, D-75, D-76
		return dangling
	case owner.waits():
		return waiting
	}
	return solid
}

// count counts an object's references by the state of their owners.
func (s State) count(o Object) (n [unknown + 1]int) {
	for _, r := range o.Owners {
		n[s.classify(o, r)]++
	}
	return n
}

// StepKind is a kind of step of the collector.
type StepKind string

// The kinds of steps.
const (
	Collect StepKind = "delete"
	Drop    StepKind = "drop owners"
	Release StepKind = "remove finalizer"
	Unblock StepKind = "unblock"
	// Finish is the second half of a pod's removal (C-32), by the client that sent the first half.
	Finish StepKind = "finish"
)

// Step is a change that may happen without another request of a client.
type Step struct {
	Kind StepKind
	Key  Key
	// Policy is set for Collect.
	Policy string
	// Finalizer is set for Release.
	Finalizer string
	// Owners are set for Drop and Unblock.
	Owners []UID
}

// Steps returns the possible next steps, sorted. If there are none, the collector is idle.
func Steps(s State) []Step {
	var all []Step
	for _, k := range s.Keys() {
		all = append(all, s.steps(s[k])...)
	}
	return all
}

func (s State) steps(o Object) []Step {
	switch {
	case KindOf(o.Kind).Ignored: // D-08
		return nil
	case o.doomed():
		return []Step{{Kind: Finish, Key: o.Key}}
	}
	var all []Step
	if uids := s.droppable(o); len(uids) > 0 {
		all = append(all, Step{Kind: Drop, Key: o.Key, Owners: uids})
	}
	if o.Deleting {
		return append(all, s.release(o)...)
	}
	if p := s.collect(o); p != "" {
		all = append(all, Step{Kind: Collect, Key: o.Key, Policy: p})
	}
	return all
}

// droppable returns the uids of the references that the collector removes from the object.
func (s State) droppable(o Object) []UID {
	var uids []UID
	n := s.count(o)
	mixed := !o.Deleting && n[unknown] == 0 && n[solid] > 0 // D-39
	for _, r := range o.Owners {
		owner, ok := s.Find(r.UID)
		if ok && owner.releases() || mixed && s.classify(o, r) != solid { // D-60, D-62
			uids = append(uids, r.UID)
		}
	}
	slices.Sort(uids)
	return slices.Compact(uids)
}

// release returns the collector's steps for an object that is being deleted.
func (s State) release(o Object) []Step {
	dependents := s.dependents(o.UID)
	switch {
	case o.releases() && len(dependents) == 0: // D-60
		return []Step{{Kind: Release, Key: o.Key, Finalizer: Orphan}}
	case o.waits() && !slices.ContainsFunc(dependents, func(d Object) bool { return d.blocks(o) }): // D-43
		return []Step{{Kind: Release, Key: o.Key, Finalizer: Foreground}}
	}
	if uids := s.unblockable(o); len(uids) > 0 {
		return []Step{{Kind: Unblock, Key: o.Key, Owners: uids}}
	}
	return nil
}

// blocks reports whether a reference of the object to the owner's uid has blockOwnerDeletion (D-43, J-16).
func (o Object) blocks(owner Object) bool {
	return slices.ContainsFunc(o.Owners, func(r Owner) bool { return r.blocks(owner) })
}

func (r Owner) blocks(owner Object) bool { return r.UID == owner.UID && r.Block == True }

// unblockable returns the uids of the owners that the object blocks although they wait, directly or through other
// objects, for the object, which waits itself (J-12).
func (s State) unblockable(o Object) []UID {
	var uids []UID
	for _, r := range o.Owners {
		owner, ok := s.Find(r.UID)
		if ok && o.waits() && r.blocks(owner) && owner.waits() && s.awaited(owner, o) && !slices.Contains(uids, r.UID) {
			uids = append(uids, r.UID)
		}
	}
	return uids
}

// awaited reports whether o is reached from x over references that block waiting owners.
func (s State) awaited(x, o Object) bool {
	seen, todo := map[UID]bool{}, []Object{x}
	for len(todo) > 0 {
		x := todo[0]
		todo = todo[1:]
		if x.UID == o.UID {
			return true
		}
		for _, r := range x.Owners {
			owner, ok := s.Find(r.UID)
			if ok && r.blocks(owner) && owner.waits() && !seen[r.UID] {
				seen[r.UID] = true
				todo = append(todo, owner)
			}
		}
	}
	return false
}

// collect returns the policy with which the collector deletes an object that is not being deleted, or nothing.
func (s State) collect(o Object) string {
	n := s.count(o)
	switch {
	case len(o.Owners) == 0 || n[unknown] > 0 || n[solid] > 0: // D-34, D-38, D-39
		return ""
	case n[waiting] > 0 && len(s.dependents(o.UID)) > 0: // D-40
		return "Foreground"
	case o.Has(Orphan): // D-41
		return "Orphan"
	case o.Has(Foreground):
		return "Foreground"
	}
	return "Background"
}

// Take returns the state after a step, and the events of the step.
func Take(s State, t Step) (State, []Event) {
	o := s[t.Key]
	switch t.Kind {
	case Collect:
		next, _, events := remove(s, Op{Verb: Delete, Key: t.Key, Policy: t.Policy})
		return next, events
	case Finish:
		return s.without(t.Key), []Event{{Deleted, o}}
	case Drop:
		o.Owners = dropped(o, t.Owners)
	case Unblock:
		o.Owners = dedup(unblocked(o.Owners, t.Owners)) // as any patch
	case Release:
		o.Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == t.Finalizer })
	}
	if o.doomed() { // B-20
		return s.without(t.Key), []Event{{Deleted, s[t.Key]}}
	}
	return s.with(o), []Event{{Modified, o}}
}

// dropped returns the references that remain. References with one uid become adjacent, as in a strategic merge (D-50).
// Custom resources don't support strategic merge: their references stay in their order (D-52).
func dropped(o Object, uids []UID) []Owner {
	if KindOf(o.Kind).Custom {
		return slices.DeleteFunc(slices.Clone(o.Owners), func(r Owner) bool { return slices.Contains(uids, r.UID) })
	}
	return mergeOwners(o.Owners, nil, uids)
}

func unblocked(owners []Owner, uids []UID) []Owner {
	owners = slices.Clone(owners)
	for i := range owners {
		if owners[i].Block == True && slices.Contains(uids, owners[i].UID) {
			owners[i].Block = False
		}
	}
	return owners
}
