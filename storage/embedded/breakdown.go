package embedded

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"go.uber.org/zap/zapcore"
)

// breakdown handles an error after which etcd can't continue, such as a full disk. etcd logs it as fatal or as a panic,
// in any goroutine, which must then not continue: it holds locks, and its next step may be wrong. So breakdown ends the
// goroutine. Other goroutines of etcd may wait for it forever. All acknowledged writes are already in etcd's log on
// disk.
type breakdown struct {
	// dir is etcd's directory, for the error.
	dir string
	// serving reports whether Start has returned and Stop was not called: no one waits for done.
	serving atomic.Bool
	fatal   func(error)

	once sync.Once
	// done is closed when err is set.
	done chan struct{}
	err  error
}

func newBreakdown(dir string, fatal func(error)) *breakdown {
	return &breakdown{dir: dir, fatal: fatal, done: make(chan struct{})}
}

// OnWrite implements zapcore.CheckWriteHook. It ends the goroutine.
func (b *breakdown) OnWrite(e *zapcore.CheckedEntry, fields []zapcore.Field) {
	b.once.Do(func() {
		b.err = b.describe(e.Message, fields)
		close(b.done)
	})
	if b.serving.Load() {
		b.fatal(b.err)
	}
	runtime.Goexit()
}

// describe turns a message of etcd's log into an error.
func (b *breakdown) describe(message string, fields []zapcore.Field) error {
	cause := loggedError(fields)
	if cause == nil {
		return fmt.Errorf("etcd in %s stopped: %s", b.dir, message)
	}
	if diskFull(cause) {
		return fmt.Errorf("%w: the disk of %s is full: etcd: %s: %w", ErrNoSpace, b.dir, message, cause)
	}
	return fmt.Errorf("etcd in %s stopped: %s: %w", b.dir, message, cause)
}

// failed returns the error if there was a breakdown, else nil.
func (b *breakdown) failed() error {
	select {
	case <-b.done:
		return b.err
	default:
		return nil
	}
}

// diskFull reports whether an error means that the disk is full; bbolt keeps only the message of some errors.
func diskFull(err error) bool {
	return slices.ContainsFunc(fullErrors, func(e syscall.Errno) bool {
		return errors.Is(err, e) || strings.Contains(err.Error(), e.Error())
	})
}
