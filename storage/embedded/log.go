package embedded

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// harmless tells what is no trouble here, whatever etcd calls it: it is told only to who debugs.
func harmless(e zapcore.Entry, fields []zapcore.Field, quiet bool) bool {
	switch e.Message {
	case "failed to update storage version", "Failed to detect schema version":
		// Elections are over so quickly that the database has not been written once; it is tried
		// again after seconds. The second is the same, at the start after a crash in those seconds.
		return strings.Contains(errorText(fields), "missing term information")
	case "failed to apply request", "retrying of unary invoker failed":
		return true // the caller is told
	case "failed to lock file":
		// etcd looks every 30 s whether there are more segments of its log than it should keep, and
		// may not remove those that hold entries since the last snapshot.
		return strings.Contains(errorText(fields), fileutil.ErrLocked.Error())
	}
	return quiet && e.Level == zapcore.WarnLevel
}

// errorText is the text of zap.Error among the fields, if any.
func errorText(fields []zapcore.Field) string {
	if err := loggedError(fields); err != nil {
		return err.Error()
	}
	return ""
}

// loggedError is zap.Error among the fields, if any.
func loggedError(fields []zapcore.Field) error {
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			return err
		}
	}
	return nil
}

// logCore hands etcd's log to slog: errors as errors, warnings as warnings, and nothing below.
type logCore struct {
	to     *slog.Logger
	fields []zapcore.Field
	// quiet makes debug messages of warnings, while a server starts and stops: what it was about to
	// do when it was told to stop is no news.
	quiet *atomic.Bool
	// applying is told of every message.
	applying *onApply
}

// onApply is called once by etcd's goroutine that applies its log, when that begins with the next entries. Its
// debug message is the only way to be called there.
type onApply struct {
	armed atomic.Bool
	// do is set before armed is.
	do func()
}

// applyMessage is that message (etcd server/etcdserver/server.go: apply).
const applyMessage = "Applying entries"

func (a *onApply) heard(message string) {
	if message == applyMessage && a.armed.CompareAndSwap(true, false) {
		a.do()
	}
}

// NewClientLogger returns a logger for etcd's client that passes its warnings and errors to l, like the server's.
func NewClientLogger(l *slog.Logger) *zap.Logger {
	return newLog(l, &atomic.Bool{}, &onApply{}, zapcore.WriteThenPanic)
}

// newLog returns a zap logger over l. fatal is called for what etcd calls fatal or a panic, instead
// of ending the process.
func newLog(l *slog.Logger, quiet *atomic.Bool, applying *onApply, fatal zapcore.CheckWriteHook) *zap.Logger {
	return zap.New(&logCore{to: l, quiet: quiet, applying: applying}, zap.WithFatalHook(fatal), zap.WithPanicHook(fatal))
}

// Enabled implements zapcore.LevelEnabler.
func (c *logCore) Enabled(l zapcore.Level) bool {
	return l >= zapcore.WarnLevel || c.applying.armed.Load()
}

// With implements zapcore.Core.
func (c *logCore) With(fields []zapcore.Field) zapcore.Core {
	d := *c
	d.fields = append(append([]zapcore.Field(nil), c.fields...), fields...)
	return &d
}

// Check implements zapcore.Core.
func (c *logCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if e.Level >= zapcore.WarnLevel {
		return ce.AddCore(e, c)
	}
	c.applying.heard(e.Message)
	return ce
}

// Write implements zapcore.Core.
func (c *logCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	level := slog.LevelError
	if e.Level == zapcore.WarnLevel {
		level = slog.LevelWarn
	}
	if harmless(e, fields, c.quiet.Load()) {
		level = slog.LevelDebug
	}
	if !c.to.Enabled(context.Background(), level) {
		return nil
	}
	enc := zapcore.NewMapObjectEncoder()
	attrs := make([]slog.Attr, 0, len(c.fields)+len(fields))
	for _, list := range [][]zapcore.Field{c.fields, fields} {
		for _, f := range list {
			f.AddTo(enc)
			attrs = append(attrs, slog.Any(f.Key, enc.Fields[f.Key]))
		}
	}
	c.to.LogAttrs(context.Background(), level, "etcd: "+e.Message, attrs...)
	return nil
}

// Sync implements zapcore.Core.
func (c *logCore) Sync() error { return nil }
