package ownership

// Prepare is what a question does before it looks for objects.
func (s *Service) Prepare() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.ready()
	return err
}

// Indexed reports whether there is an index at present.
func (s *Service) Indexed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index != nil
}
