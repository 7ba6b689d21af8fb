package jsonscan

// Member returns the offsets of the value of an object's member, the last one with that name; from and to are 0 if
// there is none, or if data isn't JSON.
func Member(object []byte, name string) (from, to int) {
	s := New(object)
	if !s.Open('{') {
		return 0, 0
	}
	for first := true; ; first = false {
		n, _, ok := s.Key(first)
		if s.err != nil {
			return 0, 0
		}
		if !ok {
			return from, to
		}
		s.Peek()
		at := s.pos
		if s.Skip(); n.Is(name) {
			from, to = at, s.pos
		}
	}
}
