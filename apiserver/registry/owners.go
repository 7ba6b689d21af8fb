package registry

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DedupOwners removes duplicate owner references and warns.
func DedupOwners(m metav1.Object, afterAdmission bool, warn func(string)) {
	refs := m.GetOwnerReferences()
	if len(refs) < 2 {
		return
	}
	var kept []metav1.OwnerReference
	var dups []string
	seen := map[string]bool{}
	for _, r := range refs {
		key, _ := json.Marshal(r) // it has only strings and booleans
		if seen[string(key)] {
			dups = append(dups, string(r.UID)) // one for each reference that is removed
			continue
		}
		seen[string(key)] = true
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
