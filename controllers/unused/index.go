package unused

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Key identifies a pod or a claim.
type Key struct{ Namespace, Name string }

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Namespace, o.Namespace), cmp.Compare(k.Name, o.Name))
}

// Reference is a pod's reference to a claim of its namespace.
type Reference struct {
	Claim string
	// Owner is the pod's UID if the claim is that of an ephemeral volume: another claim of the name isn't meant.
	Owner types.UID
}

// References returns the claims to which the pod refers, each once; none if it has finished.
func References(p *corev1.Pod) []Reference {
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return nil
	}
	var all []Reference
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			all = append(all, Reference{Claim: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			all = append(all, Reference{Claim: p.Name + "-" + v.Name, Owner: p.UID})
		}
	}
	slices.SortFunc(all, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(a.Claim, b.Claim), cmp.Compare(a.Owner, b.Owner))
	})
	return slices.Compact(all)
}

// index has the references of all pods.
type index struct {
	pods map[Key][]Reference
	// claims are the pods by the claims to which they refer, whether or not these exist.
	claims map[Key]map[Key]types.UID
}

func newIndex() *index { return &index{map[Key][]Reference{}, map[Key]map[Key]types.UID{}} }

// set replaces the references of a pod, and returns the claims whose users have changed.
func (x *index) set(pod Key, now []Reference) (changed []Key) {
	before := x.pods[pod]
	for _, r := range before {
		if !slices.Contains(now, r) {
			changed = append(changed, Key{pod.Namespace, r.Claim})
		}
	}
	for _, r := range now {
		if !slices.Contains(before, r) {
			changed = append(changed, Key{pod.Namespace, r.Claim})
		}
	}
	if len(changed) == 0 {
		return nil
	}
	x.forget(pod)
	for _, r := range now {
		claim := Key{pod.Namespace, r.Claim}
		if x.claims[claim] == nil {
			x.claims[claim] = map[Key]types.UID{}
		}
		if owner, named := x.claims[claim][pod]; !named || owner != "" { // a reference by name is for any claim
			x.claims[claim][pod] = r.Owner
		}
	}
	if len(now) > 0 {
		x.pods[pod] = now
	}
	slices.SortFunc(changed, Key.compare)
	return slices.Compact(changed)
}

func (x *index) forget(pod Key) {
	for _, r := range x.pods[pod] {
		claim := Key{pod.Namespace, r.Claim}
		delete(x.claims[claim], pod)
		if len(x.claims[claim]) == 0 {
			delete(x.claims, claim)
		}
	}
	delete(x.pods, pod)
}

// users returns the users of a claim.
func (x *index) users(claim Key) (u users) {
	for _, owner := range x.claims[claim] {
		if owner == "" {
			return users{any: true}
		}
		u.owners = append(u.owners, owner)
	}
	slices.Sort(u.owners)
	return u
}
