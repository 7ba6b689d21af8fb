package defaulting

// Set sets a nil pointer to a value.
func Set[T any](p **T, v T) {
	if *p == nil {
		*p = &v
	}
}

// Fill replaces an empty value.
func Fill[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
