package embedded

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// loggedError returns the error of the first field that zap.Error has made, or nil.
func loggedError(fields []zapcore.Field) error {
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			return err
		}
	}
	return nil
}

// logCore passes etcd's warnings and errors to slog, only at debug level, because errors are reported elsewhere, too:
// requests, Start and Stop return theirs, and Config.Fatal gets the error that stops the server.
type logCore struct {
	to     *slog.Logger
	fields []zapcore.Field
}

// NewClientLogger returns a logger for etcd's client that passes its warnings and errors to l, like the server's.
func NewClientLogger(l *slog.Logger) *zap.Logger {
	return newLog(l, zapcore.WriteThenPanic)
}

// newLog returns a zap logger over l. fatal is called for messages of the levels fatal and panic, instead of ending the
// process.
func newLog(l *slog.Logger, fatal zapcore.CheckWriteHook) *zap.Logger {
	return zap.New(&logCore{to: l}, zap.WithFatalHook(fatal), zap.WithPanicHook(fatal))
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
	if !c.to.Enabled(context.Background(), slog.LevelDebug) {
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
	c.to.LogAttrs(context.Background(), slog.LevelDebug, "etcd: "+e.Message, attrs...)
	return nil
}

// Sync implements zapcore.Core.
func (c *logCore) Sync() error { return nil }
