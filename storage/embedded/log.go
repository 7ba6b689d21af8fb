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

// harmless reports whether a message means no problem here, whatever its level. It is then logged at debug level.
func harmless(e zapcore.Entry, fields []zapcore.Field, quiet bool) bool {
	switch e.Message {
	case "failed to update storage version", "Failed to detect schema version":
		// The election is over so quickly that the database has not been written yet; etcd tries again after seconds.
		// The second message means the same, at the start after a crash in those seconds.
		return strings.Contains(errorText(fields), "missing term information")
	case "failed to apply request", "retrying of unary invoker failed":
		return true // the caller gets the error
	case "failed to lock file":
		// Every 30 s etcd tries to delete old segments of its log, and fails for those with entries since the last
		// snapshot.
		return strings.Contains(errorText(fields), fileutil.ErrLocked.Error())
	}
	return quiet && e.Level <= zapcore.ErrorLevel
}

// errorText is the message of zap.Error among the fields, if any.
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

// logCore passes etcd's log to slog: errors as errors, warnings as warnings, and nothing below.
type logCore struct {
	to     *slog.Logger
	fields []zapcore.Field
	// quiet turns warnings and errors into debug messages while a server starts and stops: Start and Stop return the
	// error, and a warning that etcd could not finish its work when it was stopped is of no use.
	quiet *atomic.Bool
}

// NewClientLogger returns a logger for etcd's client that passes its warnings and errors to l, like the server's.
func NewClientLogger(l *slog.Logger) *zap.Logger {
	return newLog(l, &atomic.Bool{}, zapcore.WriteThenPanic)
}

// newLog returns a zap logger over l. fatal is called for messages of the levels fatal and panic, instead of ending the
// process.
func newLog(l *slog.Logger, quiet *atomic.Bool, fatal zapcore.CheckWriteHook) *zap.Logger {
	return zap.New(&logCore{to: l, quiet: quiet}, zap.WithFatalHook(fatal), zap.WithPanicHook(fatal))
}

// Enabled implements zapcore.LevelEnabler.
func (c *logCore) Enabled(l zapcore.Level) bool { return l >= zapcore.WarnLevel }

// With implements zapcore.Core.
func (c *logCore) With(fields []zapcore.Field) zapcore.Core {
	d := *c
	d.fields = append(append([]zapcore.Field(nil), c.fields...), fields...)
	return &d
}

// Check implements zapcore.Core.
func (c *logCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
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
