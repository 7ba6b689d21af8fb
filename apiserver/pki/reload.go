package pki

import (
	"bytes"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// reloadPause is the minimum time between two reads of the same files.
const reloadPause = time.Second

// reloaded is a value that is parsed from files. If the files have changed, the value is parsed again when it is used,
// so that replaced files need no restart (AS pkg/server/dynamiccertificates, which watches them). While the files can't
// be read or parsed, for example because only the certificate was replaced and not yet its key, the old value stays.
type reloaded[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	now   func() time.Time
	log   *slog.Logger
	value atomic.Pointer[T]

	// mu guards the fields below, and is held while files are read. Handshakes do not wait for it: they use the old
	// value.
	mu       sync.Mutex
	checked  time.Time
	contents [][]byte
	failed   string // the error that was logged last; empty after a success
}

// newReloaded reads the files for the first time.
func newReloaded[T any](o *Options, parse func([][]byte) (T, error), paths ...string) (*reloaded[T], error) {
	r := &reloaded[T]{paths: paths, parse: parse, now: o.Now, log: o.Log, checked: o.Now()}
	contents, err := r.read()
	if err != nil {
		return nil, err
	}
	v, err := parse(contents)
	if err != nil {
		return nil, err
	}
	r.contents = contents
	r.value.Store(&v)
	return r, nil
}

// get returns the current value.
func (r *reloaded[T]) get() T {
	if r.mu.TryLock() {
		defer r.mu.Unlock()
		if now := r.now(); now.Sub(r.checked).Abs() >= reloadPause { // the clock may be set back
			r.checked = now
			r.note(r.reload())
		}
	}
	return *r.value.Load()
}

// reload replaces the value if the files have changed. The caller holds mu.
func (r *reloaded[T]) reload() error {
	contents, err := r.read()
	if err != nil {
		return err
	}
	if slices.EqualFunc(contents, r.contents, bytes.Equal) {
		return nil
	}
	v, err := r.parse(contents)
	if err != nil {
		return err
	}
	r.contents = contents
	r.value.Store(&v)
	r.log.Info("files were read again", "files", strings.Join(r.paths, ","))
	return nil
}

// note logs an error once. The caller holds mu.
func (r *reloaded[T]) note(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != r.failed {
		r.log.Warn("failed to read files again; their previous content is used",
			"files", strings.Join(r.paths, ","), "err", err)
	}
	r.failed = text
}

func (r *reloaded[T]) read() (contents [][]byte, err error) {
	for _, path := range r.paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		contents = append(contents, data)
	}
	return contents, nil
}
