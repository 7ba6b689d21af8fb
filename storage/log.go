package storage

import (
	"context"
	"log/slog"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// expected are messages of what is no trouble here, whatever etcd calls it: it is told only to who
// debugs.
var expected = map[string]bool{
	// Elections are over so quickly that the database has not been written once; it is tried again
	// after seconds. The second is the same, at the start after a crash in those seconds.
	"failed to update storage version": true,
	"Failed to detect schema version":  true,
	// The caller is told.
	"failed to apply request":          true,
	"retrying of unary invoker failed": true,
}

// logCore hands etcd's log to slog: errors as errors, warnings as warnings, and nothing below.
type logCore struct {
	to     *slog.Logger
	fields []zapcore.Field
	// quiet makes debug messages of warnings, while a server starts and stops: what it was about to
	// do when it was told to stop is no news.
	quiet *atomic.Bool
}

// newLog returns a zap logger over l. What etcd calls fatal panics instead of ending the process,
// so that Open can report it.
func newLog(l *slog.Logger, quiet *atomic.Bool) *zap.Logger {
	return zap.New(&logCore{to: l, quiet: quiet}, zap.WithFatalHook(zapcore.WriteThenPanic))
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
	if expected[e.Message] || level == slog.LevelWarn && c.quiet.Load() {
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
