package encryption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/storage"
)

// sealer encrypts values and decrypts them. Its methods may be called from any goroutine, and don't change their
// arguments. Cipher implements it.
type sealer interface {
	// Open returns the value that is stored under a key. stale reports whether Seal would now store other bytes.
	Open(key string, stored []byte) (value []byte, stale bool, err error)
	// Seal returns the bytes to store under a key.
	Seal(key string, value []byte) (stored []byte, err error)
}

// Store is a store whose values are encrypted in etcd. Its users see plain values.
type Store struct {
	store  storage.Store
	cipher sealer
	// below is the root with a slash at the end.
	below string
}

var _ storage.Store = (*Store)(nil)

// NewStore returns a store that encrypts the values of another, below a root without a slash at the end.
func NewStore(store storage.Store, cipher sealer, root string) *Store {
	return &Store{store: store, cipher: cipher, below: root + "/"}
}

// open decrypts a value. If that is impossible, it returns the stored value.
func (s *Store) open(key string, stored []byte) ([]byte, storage.Sealed) {
	if stored == nil || !strings.HasPrefix(key, s.below) {
		return stored, storage.Sealed{}
	}
	value, stale, err := s.cipher.Open(key, stored)
	if err != nil {
		return stored, storage.Sealed{Err: err}
	}
	if value == nil {
		value = []byte{} // nil means removed
	}
	return value, storage.Sealed{Stale: stale}
}

// Seal returns the bytes that Commit stores under a key.
func (s *Store) Seal(key string, value []byte) ([]byte, error) {
	if !strings.HasPrefix(key, s.below) {
		return value, nil
	}
	stored, err := s.cipher.Seal(key, value)
	if err != nil {
		return nil, fmt.Errorf("encrypting %s: %w", key, err)
	}
	return stored, nil
}

func (s *Store) openRecord(r *storage.Record) {
	if r.ModRevision != 0 {
		r.Value, r.Sealed = s.open(r.Key, r.Value)
	}
}

// Get implements storage.Store.
func (s *Store) Get(ctx context.Context, key string) (storage.Record, error) {
	r, err := s.store.Get(ctx, key)
	if err == nil {
		s.openRecord(&r)
	}
	return r, err
}

// List implements storage.Store.
func (s *Store) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	p, err := s.store.List(ctx, r)
	if err == nil {
		for i := range p.Records {
			s.openRecord(&p.Records[i])
		}
	}
	return p, err
}

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if t.Value != nil {
		var err error
		if t.Value, err = s.Seal(t.Key, t.Value); err != nil {
			return 0, err
		}
	}
	rev, err := s.store.Commit(ctx, t)
	if lost, ok := errors.AsType[*storage.ConflictError](err); ok {
		opened := *lost
		s.openRecord(&opened.Current)
		err = &opened
	}
	return rev, err
}

// Revision implements storage.Store.
func (s *Store) Revision(ctx context.Context) (int64, error) { return s.store.Revision(ctx) }

// Compact implements storage.Store.
func (s *Store) Compact(ctx context.Context, rev int64) error { return s.store.Compact(ctx, rev) }

// Follow implements storage.Store.
func (s *Store) Follow(ctx context.Context, sink func(storage.Batch) error) error {
	return s.store.Follow(ctx, func(b storage.Batch) error {
		b.Events = slices.Clone(b.Events)
		for i := range b.Events {
			e := &b.Events[i]
			e.Value, e.Sealed = s.open(e.Key, e.Value)
		}
		return sink(b)
	})
}
