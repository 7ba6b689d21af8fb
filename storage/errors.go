package storage

import (
	"errors"
	"fmt"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

// Sentinel errors. Test with errors.Is.
var (
	// ErrNotFound reports that no record is stored under the key.
	ErrNotFound = errors.New("storage: key not found")
	// ErrConflict reports that a key did not have the mod revision that a commit named; see ConflictError.
	ErrConflict = errors.New("storage: revision conflict")
	// ErrCompacted reports that the requested revision is older than etcd's history.
	ErrCompacted = errors.New("storage: revision compacted")
	// ErrFuture reports that the requested revision has not been written yet.
	ErrFuture = errors.New("storage: revision in the future")
	// ErrTooLarge reports that the value exceeds etcd's limit for a request.
	ErrTooLarge = errors.New("storage: value too large")
	// ErrNoSpace reports that etcd's quota is exhausted: reads and deletions still work, puts don't. An embedded etcd
	// frees space by itself once data is deleted; an external cluster's operator must defragment and disarm it. From
	// Open and Close, and in Config.Fatal, it reports that the disk is full.
	ErrNoSpace = embedded.ErrNoSpace
	// ErrUnavailable reports that etcd did not answer: no leader, connection lost, or closed.
	ErrUnavailable = embedded.ErrUnavailable
	// ErrInUse reports that another process has the data directory open.
	ErrInUse = embedded.ErrInUse
	// ErrVersion reports that an external etcd has a version whose watches are unreliable.
	ErrVersion = errors.New("storage: unsupported version of etcd")
	// ErrCluster reports that the endpoints of an external etcd belong to different clusters.
	ErrCluster = errors.New("storage: different clusters of etcd")
	// ErrSetBack reports that an external cluster was restored from a backup, or replaced: its history is not the one
	// that was read before.
	ErrSetBack = errors.New("storage: etcd was set back to an earlier state or replaced")
	// ErrDamaged reports that files of an embedded etcd are missing, truncated, or not what etcd wrote. Open leaves
	// them unchanged, except for what etcd itself repairs.
	ErrDamaged = embedded.ErrDamaged
	// ErrReadOnly reports that the store was opened for reading only; see Config.ReadOnly.
	ErrReadOnly = errors.New("this server is read-only")
	// ErrShared reports that the operation needs an etcd that no other program uses.
	ErrShared = errors.New("storage: an external etcd can't be used by one program alone")
	// ErrNotEmpty reports that the data directory has data, so that Config.Restore can't be used.
	ErrNotEmpty = embedded.ErrNotEmpty
	// ErrCorrupt reports that a stored value can't be decoded into an object.
	ErrCorrupt = errors.New("storage: corrupt value")
)

// ConflictError is returned by Commit when a compare failed. It matches ErrConflict.
type ConflictError struct {
	// Current is the record now under the transaction's key; Current.ModRevision is 0 if there is none.
	Current Record
	// Guard is the first guard that did not hold, with the mod revision found there; nil if the
	// key itself had another revision.
	Guard *Guard
	// Revision is the store's revision when the compare failed.
	Revision int64
}

// Error names the key and the revision found.
func (e *ConflictError) Error() string {
	if e.Guard != nil {
		return fmt.Sprintf("storage: guard %s is at revision %d", e.Guard.Key, e.Guard.ModRevision)
	}
	return fmt.Sprintf("storage: %s is at revision %d", e.Current.Key, e.Current.ModRevision)
}

// Is makes errors.Is(err, ErrConflict) hold.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
