package objectmeta

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DedupOwners removes duplicate owner references and warns.
func DedupOwners(m metav1.Object, afterAdmission bool, warn func(string)) {
	refs := m.GetOwnerReferences()
	if len(refs) < 2 {
		return
	}
	var kept []metav1.OwnerReference
	var dups []string
	seen := map[OwnerKey]bool{}
	for _, r := range refs {
		key := KeyOf(r)
		if seen[key] {
			dups = append(dups, string(r.UID)) // one for each reference that is removed
			continue
		}
		seen[key] = true
		kept = append(kept, r)
	}
	if len(dups) == 0 {
		return
	}
	m.SetOwnerReferences(kept)
	when := ""
	if afterAdmission {
		when = " after mutating admission happens"
	}
	warn(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; "+
		"API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; "+
		"please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(dups, ", ")))
}

// OwnerKey is an owner reference as a comparable value.
type OwnerKey struct {
	apiVersion, kind, name string
	uid                    types.UID
	controller, block      flag
}

// KeyOf returns the reference as a comparable value.
func KeyOf(r metav1.OwnerReference) OwnerKey {
	return OwnerKey{r.APIVersion, r.Kind, r.Name, r.UID, flagOf(r.Controller), flagOf(r.BlockOwnerDeletion)}
}

// flag is a *bool as a comparable value.
type flag struct{ set, value bool }

func flagOf(b *bool) flag {
	if b == nil {
		return flag{}
	}
	return flag{true, *b}
}
