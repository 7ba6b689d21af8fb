package apiserver

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/auth"
)

// TestPlaces: however many requests others make, there is a place for an administrator's, and no request is
// served beyond the bound.
func TestPlaces(t *testing.T) {
	root, user := auth.Loopback, auth.User{Name: "u"}
	for n, common := range map[int]int{1: 1, 9: 9, 10: 9, 400: 360} {
		p := newPlaces(n)
		fill := func(u auth.User) (leave []func()) {
			for {
				l, ok := p.take(u)
				if !ok {
					return leave
				}
				leave = append(leave, l)
			}
		}
		others, roots := fill(user), fill(root)
		if len(others) != common || len(roots) != n-common {
			t.Errorf("of %d places %d are others', %d administrators'", n, len(others), len(roots))
		}
		for _, leave := range append(others, roots...) {
			leave()
		}
		if roots, others := fill(root), fill(user); len(roots) != n || len(others) != 0 {
			t.Errorf("administrators, coming first, get %d of %d places, others %d", len(roots), n, len(others))
		}
	}
}
