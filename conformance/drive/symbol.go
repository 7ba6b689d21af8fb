package drive

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// symbolOf is the uid of what a create makes.
func symbolOf(op model.Op) model.UID { return model.UID(fmt.Sprintf("u%d", op.ID)) }

// created remembers the uid of an object.
func (s *Session) created(op model.Op, uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uids[symbolOf(op)] = uid
	s.symbols[uid] = symbolOf(op)
}

// real returns the UID that a symbol represents. For an object that was never created it is invented.
func (s *Session) real(uid model.UID) string {
	if uid == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.uids[uid]; ok {
		return r
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // it never fails
	r := fmt.Sprintf("00000000-0000-4000-8000-%012x", h.Sum64()&0xffffffffffff)
	s.symbols[r] = uid
	return r
}

// Symbol returns the symbol of a UID; for an unknown one, the UID itself.
func (s *Session) Symbol(uid string) model.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sym, ok := s.symbols[uid]; ok {
		return sym
	}
	return model.UID(uid)
}

// Bind returns the operation as it can be sent now: with other symbols for what hasn't been created,
// for these references stay what they are when it is created a moment later.
func (s *Session) Bind(op model.Op) model.Op {
	s.mu.Lock()
	defer s.mu.Unlock()
	bind := func(uid model.UID) model.UID {
		if _, known := s.uids[uid]; known || uid == "" || uid[0] != 'u' {
			return uid
		}
		return "no-" + uid
	}
	op.Owners, op.Drop, op.UID = slices.Clone(op.Owners), slices.Clone(op.Drop), bind(op.UID)
	for i := range op.Owners {
		op.Owners[i].UID = bind(op.Owners[i].UID)
	}
	for i := range op.Drop {
		op.Drop[i] = bind(op.Drop[i])
	}
	return op
}
