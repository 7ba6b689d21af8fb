package snapshot

import "errors"

// Sentinel errors. Test with errors.Is.
var (
	// ErrTruncated reports that the end of the file is missing.
	ErrTruncated = errors.New("the file is truncated")
	// ErrHash reports that the file's content does not match its hash.
	ErrHash = errors.New("the hash at the end of the file does not match its content: the file was changed or damaged")
	// ErrDamaged reports that pages of the file are not what etcd wrote.
	ErrDamaged = errors.New("the file is damaged")
	// ErrForeign reports that the file is something else than a snapshot or a database of etcd.
	ErrForeign = errors.New("the file is no etcd snapshot")
	// ErrNewer reports that a newer etcd has written the file, in a format that this program does not know.
	ErrNewer = errors.New("the file has a newer format")
	// ErrInUse reports that the file is the database of an etcd that is running.
	ErrInUse = errors.New("the file is in use by a running etcd")
)
