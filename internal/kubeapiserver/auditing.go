package kubeapiserver

import (
	"strconv"
	"time"
)

// auditing are the flags of AS pkg/server/options/audit.go.
func auditing() section {
	float := func(s string) (float32, error) { f, err := strconv.ParseFloat(s, 32); return float32(f), err }
	return section{"auditing", []entry{
		{
			name: "audit-log-batch-buffer-size", kind: "int", def: "10000",
			usage: "number of events in the buffer of mode batch",
			act:   number(func(s *Settings) *int { return &s.Options.Audit.Batch.BufferSize }),
		},
		{
			name: "audit-log-batch-max-size", kind: "int", def: "1",
			usage: "maximum number of events that mode batch writes at once",
			act:   number(func(s *Settings) *int { return &s.Options.Audit.Batch.MaxBatchSize }),
		},
		{
			name: "audit-log-batch-max-wait", kind: "duration", def: "0s",
			usage: "maximum time that mode batch waits until a batch is full",
			act:   duration(func(s *Settings) *time.Duration { return &s.Options.Audit.Batch.MaxBatchWait }),
		},
		{
			name: "audit-log-batch-throttle-burst", kind: "int", def: "0", usage: "maximum number of batches in a burst",
			act: number(func(s *Settings) *int { return &s.Options.Audit.Batch.ThrottleBurst }),
		},
		{
			name: "audit-log-batch-throttle-enable", kind: "bool", def: "false", usage: "limit the rate of mode batch",
			act: yes(func(s *Settings) *bool { return &s.Options.Audit.Batch.ThrottleEnable }),
		},
		{
			name: "audit-log-batch-throttle-qps", kind: "float32", def: "0",
			usage: "maximum average number of batches per second",
			act:   parsed(float, func(s *Settings) *float32 { return &s.Options.Audit.Batch.ThrottleQPS }),
		},
		{
			name: "audit-log-compress", kind: "bool", def: "false", usage: "compress rotated audit logs with gzip",
			act: yes(func(s *Settings) *bool { return &s.Options.Audit.Compress }),
		},
		{
			name: "audit-log-format", kind: "string", def: "json", usage: "format of audit events: json or legacy",
			act: text(func(s *Settings) *string { return &s.Options.Audit.Format }),
		},
		{
			name: "audit-log-maxage", kind: "int", def: "366", usage: "maximum age of rotated audit logs in days",
			act: number(func(s *Settings) *int { return &s.Options.Audit.MaxAge }),
		},
		{
			name: "audit-log-maxbackup", kind: "int", def: "100", usage: "maximum number of rotated audit logs",
			act: number(func(s *Settings) *int { return &s.Options.Audit.MaxBackups }),
		},
		{
			name: "audit-log-maxsize", kind: "int", def: "100", usage: "size in megabytes at which the audit log is rotated",
			act: number(func(s *Settings) *int { return &s.Options.Audit.MaxSize }),
		},
		{
			name: "audit-log-mode", kind: "string", def: "blocking",
			usage: "how events are written: batch, blocking or blocking-strict",
			act:   text(func(s *Settings) *string { return &s.Options.Audit.Mode }),
		},
		{
			name: "audit-log-path", kind: "string", usage: "file for audit events; - is standard output",
			act: text(func(s *Settings) *string { return &s.Options.Audit.Path }),
		},
		{
			name: "audit-log-truncate-enabled", kind: "bool", def: "false", usage: "truncate events that are too large",
			act: yes(func(s *Settings) *bool { return &s.Options.Audit.Truncate }),
		},
		{
			name: "audit-log-truncate-max-batch-size", kind: "int64", def: "10485760", usage: "maximum size of a batch in bytes",
			act: long(func(s *Settings) *int64 { return &s.Options.Audit.Limits.MaxBatchSize }),
		},
		{
			name: "audit-log-truncate-max-event-size", kind: "int64", def: "102400", usage: "maximum size of an event in bytes",
			act: long(func(s *Settings) *int64 { return &s.Options.Audit.Limits.MaxEventSize }),
		},
		{
			name: "audit-log-version", kind: "string", def: "audit.k8s.io/v1", usage: "API version of audit events",
			act: text(func(s *Settings) *string { return &s.Options.Audit.Version }),
		},
		{
			name: "audit-policy-file", kind: "string", usage: "file with the audit policy",
			act: text(func(s *Settings) *string { return &s.Options.Audit.PolicyFile }),
		},
		{
			name: "audit-webhook-batch-buffer-size", kind: "int", def: "10000",
			usage: "number of events in the webhook's buffer",
		},
		{
			name: "audit-webhook-batch-initial-backoff", kind: "duration", def: "10s",
			usage: "pause after the first request to the webhook that failed", hidden: true,
			deprecated: "Deprecated, use --audit-webhook-initial-backoff instead.",
		},
		{name: "audit-webhook-batch-max-size", kind: "int", def: "400", usage: "maximum number of events in a request"},
		{
			name: "audit-webhook-batch-max-wait", kind: "duration", def: "30s",
			usage: "maximum time until a batch is sent to the webhook",
		},
		{name: "audit-webhook-batch-throttle-burst", kind: "int", def: "15", usage: "maximum number of requests in a burst"},
		{name: "audit-webhook-batch-throttle-enable", kind: "bool", def: "true", usage: "limit the rate of requests"},
		{
			name: "audit-webhook-batch-throttle-qps", kind: "float32", def: "10",
			usage: "maximum average number of requests per second",
		},
		{name: "audit-webhook-config-file", kind: "string", usage: "kubeconfig of the webhook for audit events"},
		{
			name: "audit-webhook-initial-backoff", kind: "duration", def: "10s",
			usage: "pause after the first request to the webhook that failed",
		},
		{name: "audit-webhook-mode", kind: "string", def: "batch", usage: "how events are sent to the webhook"},
		{name: "audit-webhook-truncate-enabled", kind: "bool", def: "false", usage: "truncate events that are too large"},
		{
			name: "audit-webhook-truncate-max-batch-size", kind: "int64", def: "10485760",
			usage: "maximum size of a batch for the webhook in bytes",
		},
		{
			name: "audit-webhook-truncate-max-event-size", kind: "int64", def: "102400",
			usage: "maximum size of an event for the webhook in bytes",
		},
		{
			name: "audit-webhook-version", kind: "string", def: "audit.k8s.io/v1",
			usage: "API version of audit events for the webhook",
		},
	}}
}
