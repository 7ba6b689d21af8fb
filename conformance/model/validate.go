package model

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// qualified names have a prefix. Names without a prefix are valid only if they are standard.
	qualified = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	bare      = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	standard  = []string{"kubernetes", Orphan, Foreground}
)

func valid(o Object) bool {
	return validOwners(o.Owners) && validFinalizers(o)
}

func validOwners(owners []Owner) bool {
	controllers := 0
	for _, r := range owners {
		if r.APIVersion == "" || strings.HasSuffix(r.APIVersion, "/") || r.Kind == "" || r.Name == "" || r.UID == "" {
			return false
		}
		if r.APIVersion == "v1" && r.Kind == "Event" {
			return false
		}
		if r.Controller == True {
			controllers++
		}
	}
	return controllers <= 1
}

func validFinalizers(o Object) bool {
	if o.Has(Orphan) && o.Has(Foreground) {
		return false
	}
	for _, f := range o.Finalizers {
		// The core validation of metadata does not apply to Events and custom resources.
		free := (o.Kind == "Event" || KindOf(o.Kind).Custom) && bare.MatchString(f)
		if !free && !qualified.MatchString(f) && !slices.Contains(standard, f) {
			return false
		}
	}
	return true
}

// dedup removes references that equal an earlier one.
func dedup(owners []Owner) []Owner {
	return unique(owners, func(a, b Owner) bool { return a == b })
}

// unique removes references for which same returns true with an earlier one.
func unique(owners []Owner, same func(a, b Owner) bool) []Owner {
	var kept []Owner
	for _, r := range owners {
		if !slices.ContainsFunc(kept, func(k Owner) bool { return same(k, r) }) {
			kept = append(kept, r)
		}
	}
	return kept
}
