package embedded

import "log/slog"

// Config configures the embedded etcd. All fields but DataDir and Ephemeral are required.
type Config struct {
	// DataDir is etcd's data directory. Start creates it if it doesn't exist. With Ephemeral it is the parent of the
	// temporary directory (default: the system's).
	DataDir string
	// Ephemeral stores the data in a temporary directory, without fsync. Stop removes the directory; a crash loses
	// all data.
	Ephemeral bool
	// Restore makes the database of a new data directory, in etcd's directory member, before etcd starts; nil for an
	// empty one. If it fails, the next start, or Stop, removes its files.
	Restore func(member string) error
	// QuotaBytes limits how much of the database is in use; see Server.Admit.
	QuotaBytes int64
	// Fatal is called while etcd serves requests and can't continue, such as when the disk is full (the error then
	// matches ErrNoSpace). It may be called several times, from any goroutine.
	Fatal func(error)
	// Logger receives etcd's warnings and errors.
	Logger *slog.Logger
}
