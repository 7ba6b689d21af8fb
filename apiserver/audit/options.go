package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	logplugin "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"
)

// Options has the values of kube-apiserver's flags for the log backend (AS pkg/server/options/audit.go). The tags are
// the names of the flags.
type Options struct {
	// PolicyFile is the path of the policy. Path is the path of the log, or "-" for standard output. If one of them is
	// empty, nothing is recorded.
	PolicyFile string `flag:"audit-policy-file"`
	Path       string `flag:"audit-log-path"`
	// Format is json or legacy. Version is the group version of events.
	Format  string `flag:"audit-log-format"`
	Version string `flag:"audit-log-version"`
	// MaxAge is the maximum age of rotated files in days, MaxBackups their maximum number. 0 is no limit. The log is
	// rotated at MaxSize megabytes. 0 disables rotation. Compress compresses rotated files.
	MaxAge     int  `flag:"audit-log-maxage"`
	MaxBackups int  `flag:"audit-log-maxbackup"`
	MaxSize    int  `flag:"audit-log-maxsize"`
	Compress   bool `flag:"audit-log-compress"`
	// Mode is one of Modes.
	Mode string `flag:"audit-log-mode"`
	// Batch (flags audit-log-batch-*) is for the mode batch, Limits (audit-log-truncate-max-*) for Truncate.
	Batch    buffered.BatchConfig
	Truncate bool `flag:"audit-log-truncate-enabled"`
	Limits   truncate.Config
}

// The modes. In the blocking modes a request waits for the log. blocking-strict rejects it if the log can't be written.
const (
	ModeBatch          = "batch"
	ModeBlocking       = "blocking"
	ModeBlockingStrict = "blocking-strict"
)

// Modes are the modes in the order of error messages.
var Modes = []string{ModeBatch, ModeBlocking, ModeBlockingStrict}

// Defaults returns kube-apiserver's defaults (N-04).
func Defaults() Options {
	return Options{
		Format: logplugin.FormatJson, Version: auditv1.SchemeGroupVersion.String(), MaxAge: 366, MaxBackups: 100, MaxSize: 100,
		Mode: ModeBlocking, Batch: buffered.BatchConfig{BufferSize: 10000, MaxBatchSize: 1},
		Limits: truncate.Config{MaxBatchSize: 10 << 20, MaxEventSize: 100 << 10},
	}
}

// Check returns an error for the values that kube-apiserver rejects. It checks them only if Path is set.
func (o *Options) Check() error {
	if o.Path == "" {
		return nil
	}
	errs := []error{o.checkBatch(), o.checkLimits()}
	if gv, err := schema.ParseGroupVersion(o.Version); err != nil {
		errs = append(errs, err)
	} else if gv != auditv1.SchemeGroupVersion {
		errs = append(errs, fmt.Errorf("invalid group version, allowed versions are [%q]", auditv1.SchemeGroupVersion))
	}
	if !slices.Contains(logplugin.AllowedFormats, o.Format) {
		errs = append(errs, fmt.Errorf(
			"invalid audit log format %s, allowed formats are %q", o.Format, strings.Join(logplugin.AllowedFormats, ",")))
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"maxage", o.MaxAge}, {"maxbackup", o.MaxBackups}, {"maxsize", o.MaxSize}} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("--audit-log-%s %d can't be a negative number", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}

func (o *Options) checkBatch() error {
	if !slices.Contains(Modes, o.Mode) {
		return fmt.Errorf("invalid audit log mode %s, allowed modes are %q", o.Mode, strings.Join(Modes, ","))
	}
	const positive = "must be a positive number"
	b := o.Batch
	switch {
	case o.Mode != ModeBatch:
	case b.BufferSize <= 0:
		return fmt.Errorf("invalid audit batch log buffer size %d, %s", b.BufferSize, positive)
	case b.MaxBatchSize <= 0:
		return fmt.Errorf("invalid audit batch log max batch size %d, %s", b.MaxBatchSize, positive)
	case b.ThrottleEnable && b.ThrottleQPS <= 0:
		return fmt.Errorf("invalid audit batch log throttle QPS %v, %s", b.ThrottleQPS, positive)
	case b.ThrottleEnable && b.ThrottleBurst <= 0:
		return fmt.Errorf("invalid audit batch log throttle burst %d, %s", b.ThrottleBurst, positive)
	}
	return nil
}

func (o *Options) checkLimits() error {
	switch l := o.Limits; {
	case l.MaxEventSize <= 0:
		return fmt.Errorf("invalid audit truncate log max event size %d, must be a positive number", l.MaxEventSize)
	case l.MaxBatchSize < l.MaxEventSize:
		return fmt.Errorf("invalid audit truncate log max batch size %d, must be greater than max event size (%d)",
			l.MaxBatchSize, l.MaxEventSize)
	}
	return nil
}
