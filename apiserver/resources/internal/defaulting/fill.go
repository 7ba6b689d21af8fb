package defaulting

// Set fills a pointer that is nil.
func Set[T any](p **T, v T) {
	if *p == nil {
		*p = &v
	}
}

// Fill gives an empty value another.
func Fill[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
