package certificates

// ofType returns the conditions of a type, which clients may repeat.
func ofType[C any, T comparable](list []C, typeOf func(*C) T, want T) (found []*C) {
	for i := range list {
		if c := &list[i]; typeOf(c) == want {
			found = append(found, c)
		}
	}
	return found
}

// keepConditions restores the old conditions of a type. If a client adds or removes one, it changes nothing, and
// validation rejects the request.
func keepConditions[C any](now, was []*C) {
	if len(now) != len(was) {
		return
	}
	for i := range now {
		*now[i] = *was[i]
	}
}
