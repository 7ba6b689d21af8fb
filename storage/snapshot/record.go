package snapshot

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// Record is the newest value of a key.
type Record struct {
	Key string
	// Value belongs to the receiver of the record.
	Value []byte
	// Revision is the revision of the write.
	Revision int64
}

// The keys of etcd's bucket "key" are revisions: main and sub, eight bytes each with a character between them, and
// another one after the revisions of deletions (etcd server/storage/mvcc/revision.go: RevToBytes).
const (
	revisionSize  = 8 + 1 + 8
	tombstoneSize = revisionSize + 1
)

// revision parses a key of the bucket.
func revision(key []byte) (main int64, tombstone bool, err error) {
	tombstone = len(key) == tombstoneSize && key[revisionSize] == 't'
	if len(key) != revisionSize && !tombstone {
		return 0, false, fmt.Errorf("%w: %q is no revision", ErrDamaged, key)
	}
	return int64(binary.BigEndian.Uint64(key)), tombstone, nil
}

// position is the place of a key's newest value: main and sub revision.
type position [revisionSize]byte

// Records calls visit with the newest value of each key, in the order of revisions. Only keys are kept in memory.
func (f *File) Records(visit func(Record) error) error {
	newest, err := f.scan()
	if err != nil {
		return err
	}
	return f.each(func(at position, deleted bool, kv *mvccpb.KeyValue) error {
		if deleted || newest[string(kv.Key)] != at {
			return nil
		}
		return visit(Record{Key: string(kv.Key), Value: kv.Value, Revision: kv.ModRevision})
	})
}

// Keys returns the keys that have a value, in no order.
func (f *File) Keys() ([]string, error) {
	newest, err := f.scan()
	return slices.Collect(maps.Keys(newest)), err
}

// scan finds the newest value of each key, once.
func (f *File) scan() (map[string]position, error) {
	if f.newest != nil {
		return f.newest, nil
	}
	newest := map[string]position{}
	err := f.each(func(at position, deleted bool, kv *mvccpb.KeyValue) error {
		if deleted {
			delete(newest, string(kv.Key))
		} else {
			newest[string(kv.Key)] = at
		}
		return nil
	})
	if err == nil {
		f.newest = newest
	}
	return newest, err
}

// each calls visit with all revisions.
func (f *File) each(visit func(at position, deleted bool, kv *mvccpb.KeyValue) error) error {
	_, err := f.tree.bucket("key", func(e entry) error {
		main, deleted, err := revision(e.key)
		if err != nil {
			return err
		}
		kv := &mvccpb.KeyValue{}
		if err := proto.Unmarshal(e.value, kv); err != nil {
			return fmt.Errorf("%w: the value of revision %d can't be read: %w", ErrDamaged, main, err)
		}
		return visit(position(e.key[:revisionSize]), deleted, kv)
	})
	return err
}
