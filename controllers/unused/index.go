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
	// Owned says that the claim is that of an ephemeral volume, which the pod controls: another one of the name isn't
	// meant.
	Owned bool
}

// References returns the pod's references, each once; none if it has finished.
func References(p *corev1.Pod) []Reference {
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return nil
	}
	var all []Reference
	seen := map[Reference]bool{}
	for _, v := range p.Spec.Volumes {
		var r Reference
		switch {
		case v.PersistentVolumeClaim != nil:
			r.Claim = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			r = Reference{p.Name + "-" + v.Name, true}
		default:
			continue
		}
		if !seen[r] {
			seen[r] = true
			all = append(all, r)
		}
	}
	return all
}

// index has the references of all pods.
type index struct {
	pods map[Key][]Reference
	// claims are the pods by the claims to which they refer, whether or not these exist. The value is the UID of a pod
	// that refers only to the claim that it controls.
	claims map[Key]map[Key]types.UID
}

func newIndex() *index { return &index{map[Key][]Reference{}, map[Key]map[Key]types.UID{}} }

// set replaces the references of a pod, and returns the claims that may have other users now.
func (x *index) set(pod Key, uid types.UID, now []Reference) (changed []Key) {
	before := x.pods[pod]
	if slices.Equal(before, now) {
		return nil
	}
	for _, r := range before {
		claim := Key{pod.Namespace, r.Claim}
		delete(x.claims[claim], pod)
		if len(x.claims[claim]) == 0 {
			delete(x.claims, claim)
		}
		changed = append(changed, claim)
	}
	for _, r := range now {
		claim := Key{pod.Namespace, r.Claim}
		users := x.claims[claim]
		if users == nil {
			users = map[Key]types.UID{}
			x.claims[claim] = users
		}
		if _, any := users[pod]; !r.Owned {
			users[pod] = ""
		} else if !any {
			users[pod] = uid
		}
		changed = append(changed, claim)
	}
	if delete(x.pods, pod); len(now) > 0 {
		x.pods[pod] = now
	}
	return changed
}

// users returns the users of a claim.
func (x *index) users(claim Key) (u users) {
	for _, owner := range x.claims[claim] {
		if owner == "" {
			return users{any: true}
		}
		u.owners = append(u.owners, owner)
	}
	return u
}
