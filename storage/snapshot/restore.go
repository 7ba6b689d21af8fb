package snapshot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/lease/leasepb"
	"google.golang.org/protobuf/proto"
)

// RestoreOptions choose how a copy differs from its original.
type RestoreOptions struct {
	// KeepLeases extends the leases of the copy, so that no key expires. Otherwise the time of each lease begins again
	// when etcd starts.
	KeepLeases bool
	// Temporary copies without fsync.
	Temporary bool
}

// leaseTTL is the longest that etcd allows, in seconds: 285 years (etcd server/lease/lessor.go: MaxLeaseTTL).
const leaseTTL = 9_000_000_000

// Restore copies the file's database into etcd's directory member, which must not exist, for a new cluster of one
// member. It keeps all revisions and leases. It drops the data of the old cluster: its members, its users, its alarms
// and its position in the log. etcd then starts with a new log and the state of the copy. An error leaves an incomplete
// directory. (etcd etcdutl/snapshot/v3_snapshot.go: Restore, which also writes the first entries of a log and a
// snapshot of it.)
func (f *File) Restore(member string, o RestoreOptions) error {
	path := filepath.Join(member, "snap", "db")
	if err := f.copyTo(path, o); err != nil {
		return fmt.Errorf("copying the snapshot: %w", err)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, NoSync: o.Temporary, NoGrowSync: o.Temporary,
	})
	if err != nil {
		return fmt.Errorf("opening the copy of the snapshot: %w", err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { return detach(tx, o) })
	return errors.Join(err, db.Close())
}

// copyTo copies the database, without the hash.
func (f *File) copyTo(path string, o RestoreOptions) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	size := f.Bytes
	if f.Hashed {
		size -= hashSize
	}
	if _, err = f.file.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(out, io.LimitReader(f.file, size)) // lets the system copy between files
	}
	if err == nil && !o.Temporary {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// oldCluster are the buckets that belong to the old cluster (etcd server/storage/schema/bucket.go).
var oldCluster = []string{"members", "members_removed", "cluster", "alarm", "auth", "authUsers", "authRoles"}

// oldLog has the keys of the bucket meta that record how far the old log was applied.
var oldLog = []string{"consistent_index", "term", "confState"}

// detach deletes the data of the old cluster.
func detach(tx *bbolt.Tx, o RestoreOptions) error {
	for _, name := range oldCluster {
		if tx.Bucket([]byte(name)) == nil {
			continue
		}
		if err := tx.DeleteBucket([]byte(name)); err != nil {
			return fmt.Errorf("emptying the bucket %s: %w", name, err)
		}
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return fmt.Errorf("emptying the bucket %s: %w", name, err)
		}
	}
	meta := tx.Bucket([]byte("meta"))
	for _, name := range oldLog {
		if err := meta.Delete([]byte(name)); err != nil {
			return fmt.Errorf("deleting %s: %w", name, err)
		}
	}
	if o.KeepLeases {
		return extendLeases(tx)
	}
	return nil
}

// extendLeases makes all leases as long as possible.
func extendLeases(tx *bbolt.Tx) error {
	b := tx.Bucket([]byte("lease"))
	if b == nil {
		return nil
	}
	longer := map[string][]byte{}
	err := b.ForEach(func(id, value []byte) error {
		l := &leasepb.Lease{}
		if err := proto.Unmarshal(value, l); err != nil {
			return fmt.Errorf("%w: lease %x: %w", ErrDamaged, id, err)
		}
		l.TTL, l.RemainingTTL = leaseTTL, 0
		data, err := proto.Marshal(l)
		longer[string(id)] = data
		return err
	})
	for id, data := range longer { // not while the bucket is read
		if err == nil {
			err = b.Put([]byte(id), data)
		}
	}
	return err
}
