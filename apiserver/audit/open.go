package audit

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	logplugin "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"
)

// Open reads the policy and opens the file of the log, which it creates if necessary. It returns nil without a policy
// or without a log (N-01). It returns an error if kube-apiserver would not start with the policy. It logs other errors
// in the policy.
func Open(o Options, log *slog.Logger) (*Log, error) {
	rules, err := readPolicy(o.PolicyFile, log)
	if err != nil || o.Path == "" {
		return nil, err
	}
	out, err := o.writer()
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	if rules == nil {
		return nil, out.Close()
	}
	l, err := o.Log(rules, out)
	if err != nil {
		return nil, err
	}
	l.out = out
	return l, nil
}

// readPolicy reads the policy. It returns nil if there is no file, and ignores unknown fields (N-03).
func readPolicy(path string, log *slog.Logger) (*auditinternal.Policy, error) {
	if path == "" {
		return nil, nil
	}
	rules, err := policy.LoadPolicyFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("loading audit policy file: %w", err)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		strict := serializer.NewCodecFactory(audit.Scheme, serializer.EnableStrict).UniversalDecoder()
		_, _, err = strict.Decode(data, nil, &auditinternal.Policy{})
	}
	if err != nil {
		log.Warn("the audit policy has errors, which are ignored", "file", path, "err", err)
	}
	return rules, nil
}

// Log returns a log with the policy's rules that writes to out. It does not close out.
func (o *Options) Log(rules *auditinternal.Policy, out io.Writer) (*Log, error) {
	l := &Log{
		policy: policy.NewPolicyRuleEvaluator(rules), backend: o.backend(out), stop: make(chan struct{}), out: keptOpen{},
	}
	return l, l.backend.Run(l.stop)
}

// writer opens the log. Only the owner can read the directory and the file (N-05). A pipe or device, such as /dev/null,
// is not rotated, because that would rename it.
func (o *Options) writer() (io.WriteCloser, error) {
	if o.Path == "-" {
		return keptOpen{os.Stdout}, nil
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(o.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil || o.MaxSize == 0 {
		return f, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return f, err
	}
	return &lumberjack.Logger{ // opens the file at the first event
		Filename: o.Path, MaxAge: o.MaxAge, MaxBackups: o.MaxBackups, MaxSize: o.MaxSize, Compress: o.Compress,
	}, f.Close()
}

// keptOpen is a writer whose Close does nothing.
type keptOpen struct{ io.Writer }

// Close does nothing.
func (keptOpen) Close() error { return nil }

// backend returns upstream's backends. The outermost one truncates (AS options/audit.go: newBackend).
func (o *Options) backend(out io.Writer) audit.Backend {
	b := logplugin.NewBackend(out, o.Format, auditv1.SchemeGroupVersion)
	switch o.Mode {
	case ModeBatch:
		b = buffered.NewBackend(b, o.Batch)
	case ModeBlocking:
		b = lenient{b}
	}
	if o.Truncate {
		b = truncate.NewBackend(b, o.Limits, auditv1.SchemeGroupVersion)
	}
	return b
}

// lenient ignores failures, so that the request continues. The inner backend has counted and logged them.
type lenient struct{ audit.Backend }

// ProcessEvents implements audit.Sink.
func (b lenient) ProcessEvents(events ...*auditinternal.Event) bool {
	b.Backend.ProcessEvents(events...)
	return true
}
