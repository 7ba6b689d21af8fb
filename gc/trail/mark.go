package trail

// mark is an object that is being deleted.
type mark struct {
	entry
	// before and after are the neighbours in the order in which the deletions began.
	before, after *mark
}

// marks are the objects that are being deleted. The zero value is empty.
type marks struct {
	byUID       map[uid]*mark
	first, last *mark
	weight      int
}

// add adds an object, and forgets the oldest ones that are too many. Only the first mark of an object counts.
func (s *marks) add(m *mark, limit, bytes int) {
	if s.byUID[m.uid] != nil {
		return
	}
	if s.byUID == nil {
		s.byUID = map[uid]*mark{}
	}
	w := m.entry.weight()
	for s.first != nil && (len(s.byUID) >= limit || s.weight+w > bytes) {
		s.take(s.first.uid)
	}
	s.byUID[m.uid] = m
	s.weight += w
	if m.before = s.last; m.before != nil {
		m.before.after = m
	} else {
		s.first = m
	}
	s.last = m
}

// take removes the object and returns it; nil if it is not there.
func (s *marks) take(u uid) *mark {
	m := s.byUID[u]
	if m == nil {
		return nil
	}
	delete(s.byUID, u)
	s.weight -= m.entry.weight()
	if m.before != nil {
		m.before.after = m.after
	} else {
		s.first = m.after
	}
	if m.after != nil {
		m.after.before = m.before
	} else {
		s.last = m.before
	}
	m.before, m.after = nil, nil
	return m
}
