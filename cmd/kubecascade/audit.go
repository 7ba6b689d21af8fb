package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade/apiserver/audit"
)

func (o *options) auditFlags(f *pflag.FlagSet) {
	a := &o.Audit
	*a = audit.Defaults()
	f.StringVar(&a.PolicyFile, "audit-policy-file", "",
		"file with the audit policy; without it no events are recorded")
	f.StringVar(&a.Path, "audit-log-path", "", "file for audit events; - is standard output")
	f.StringVar(&a.Format, "audit-log-format", a.Format, "format of audit events: json or legacy")
	f.StringVar(&a.Version, "audit-log-version", a.Version, "API version of audit events")
	f.IntVar(&a.MaxAge, "audit-log-maxage", a.MaxAge, "maximum age of rotated audit logs in days; 0 keeps them")
	f.IntVar(&a.MaxBackups, "audit-log-maxbackup", a.MaxBackups, "maximum number of rotated audit logs; 0 is no limit")
	f.IntVar(&a.MaxSize, "audit-log-maxsize", a.MaxSize,
		"size in megabytes at which the audit log is rotated; 0 disables rotation")
	f.BoolVar(&a.Compress, "audit-log-compress", false, "compress rotated audit logs with gzip")
	f.StringVar(&a.Mode, "audit-log-mode", a.Mode,
		"how events are written: "+strings.Join(audit.Modes, ", ")+"; batch writes them later and drops them if "+
			"the buffer is full, blocking waits until each event is written, and blocking-strict also rejects "+
			"requests whose arrival can't be recorded")
	f.IntVar(&a.Batch.BufferSize, "audit-log-batch-buffer-size", a.Batch.BufferSize,
		"number of events in the buffer of mode batch")
	f.IntVar(&a.Batch.MaxBatchSize, "audit-log-batch-max-size", a.Batch.MaxBatchSize,
		"maximum number of events that mode batch writes at once")
	f.DurationVar(&a.Batch.MaxBatchWait, "audit-log-batch-max-wait", 0,
		"maximum time that mode batch waits until a batch is full")
	f.BoolVar(&a.Batch.ThrottleEnable, "audit-log-batch-throttle-enable", false, "limit the rate of mode batch")
	f.Float32Var(&a.Batch.ThrottleQPS, "audit-log-batch-throttle-qps", 0,
		"maximum average number of batches per second")
	f.IntVar(&a.Batch.ThrottleBurst, "audit-log-batch-throttle-burst", 0, "maximum number of batches in a burst")
	f.BoolVar(&a.Truncate, "audit-log-truncate-enabled", false,
		"remove the objects from events that are too large, and drop events that are too large without them")
	f.Int64Var(&a.Limits.MaxEventSize, "audit-log-truncate-max-event-size", a.Limits.MaxEventSize,
		"maximum size of an event in bytes")
	f.Int64Var(&a.Limits.MaxBatchSize, "audit-log-truncate-max-batch-size", a.Limits.MaxBatchSize,
		"maximum size of a batch in bytes")
}
