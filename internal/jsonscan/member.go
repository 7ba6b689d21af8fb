package jsonscan

// Member returns the offsets of the value of an object's member, of the first with that name; from and to are 0 if
// there is none, or if data isn't JSON up to there.
func Member(object []byte, name string) (from, to int) {
	s := New(object)
	if !s.Open('{') {
		return 0, 0
	}
	for first := true; ; first = false {
		n, _, ok := s.Key(first)
		if !ok {
			return 0, 0
		}
		s.Peek()
		from = s.pos
		if s.Skip(); s.err != nil {
			return 0, 0
		}
		if n.Is(name) {
			return from, s.pos
		}
	}
}
