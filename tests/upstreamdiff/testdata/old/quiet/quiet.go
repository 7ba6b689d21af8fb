// Package quiet is a package of one of two minors that are compared.
package quiet

func f() int { return 1 }
