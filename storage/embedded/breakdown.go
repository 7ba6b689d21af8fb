package embedded

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"go.uber.org/zap/zapcore"
)

// breakdown is the end of an embedded etcd that can't go on, such as when the disk is full. etcd
// logs that as fatal or as a panic, in whichever goroutine it happens, and takes for granted that
// none of it runs any more: it holds locks, and what it would do next may be wrong. So the goroutine
// stands still from then on, and others of etcd's will, waiting for it. All that was acknowledged is
// in etcd's log on disk by then.
type breakdown struct {
	// dir is etcd's directory, for the error.
	dir string
	// serving says that Open has returned and Close hasn't stopped etcd: nobody waits for done.
	serving atomic.Bool
	// tell is Config.Fatal.
	tell func(error)

	once sync.Once
	// done is closed when err is set.
	done chan struct{}
	err  error
}

func newBreakdown(dir string, tell func(error)) *breakdown {
	return &breakdown{dir: dir, tell: tell, done: make(chan struct{})}
}

// OnWrite implements zapcore.CheckWriteHook. It never returns.
func (b *breakdown) OnWrite(e *zapcore.CheckedEntry, fields []zapcore.Field) {
	b.once.Do(func() {
		b.err = b.describe(e.Message, fields)
		close(b.done)
	})
	if b.serving.Load() {
		b.tell(b.err)
	}
	select {}
}

// describe makes an error of what etcd has logged.
func (b *breakdown) describe(message string, fields []zapcore.Field) error {
	cause := loggedError(fields)
	if cause == nil {
		return fmt.Errorf("etcd in %s can't go on: %s", b.dir, message)
	}
	if diskFull(cause) {
		return fmt.Errorf("%w: the disk of %s is full: etcd: %s: %w", ErrNoSpace, b.dir, message, cause)
	}
	return fmt.Errorf("etcd in %s can't go on: %s: %w", b.dir, message, cause)
}

// failed is the error if there was a breakdown, else nil.
func (b *breakdown) failed() error {
	select {
	case <-b.done:
		return b.err
	default:
		return nil
	}
}

// diskFull tells what is meant by an error of the system; bbolt keeps only the text of some.
func diskFull(err error) bool {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}
