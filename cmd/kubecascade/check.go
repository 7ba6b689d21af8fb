package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/storage"
)

// complete sets the fields of Options that follow from several flags or from their text, and validates the flags.
func (o *options) complete(changed func(name string) bool) error {
	if err := o.checkGiven(changed); err != nil {
		return err
	}
	if o.Storage.FromSnapshot != "" {
		o.ephemeral = o.ephemeral || !changed("data-dir")
		if !changed("controllers") {
			o.Controllers.Enabled = nil
		}
	}
	if o.ephemeral {
		o.Storage.Dir = ""
	}
	if !changed("quota-backend-bytes") { // an explicit one is an error with --etcd-servers
		o.Storage.QuotaBytes = 0
	}
	if changed("leader-elect") {
		o.Controllers.LeaderElect = &o.leaderElect
	}
	o.Access.Anonymous, o.UI = &o.anonymous, &o.page
	o.Limits.MinRequestTimeout = seconds(o.minRequestTimeout)
	for _, n := range o.named {
		o.Addresses.NamedCertificates = append(o.Addresses.NamedCertificates, kubecascade.NamedCertificate{
			CertFile: n.CertFile, KeyFile: n.KeyFile, Names: n.Names,
		})
	}
	o.Controllers.Workers = map[string]int{}
	for name, n := range o.workers {
		o.Controllers.Workers[name] = *n
	}
	o.Release = version
	o.API.Flags = map[string]string{}
	for _, g := range o.declared {
		g.flags.VisitAll(func(f *pflag.Flag) { o.API.Flags[f.Name] = f.Value.String() })
	}
	if err := o.parse(); err != nil {
		return err
	}
	if o.Storage.FromSnapshot != "" && !changed("etcd-prefix") { // an empty one is an error of parse
		o.Storage.Prefix = ""
	}
	if err := o.Check(); err != nil {
		return errors.Unwrap(err) // names flags
	}
	return nil
}

// seconds returns the duration of --min-request-timeout in Options, where 0 seconds are a negative value.
func seconds(n int) time.Duration {
	if n == 0 {
		return -1
	}
	return time.Duration(min(n, math.MaxInt32)) * time.Second
}

// checkGiven rejects explicit values that Options can't express: in Options an empty or zero field means the default,
// and a negative one means none.
func (o *options) checkGiven(changed func(name string) bool) error {
	switch {
	case changed("etcd-servers") && len(o.Storage.Endpoints) == 0:
		return errors.New("--etcd-servers is empty")
	case o.ephemeral && len(o.Storage.Endpoints) > 0:
		return errors.New("--ephemeral and --etcd-servers are mutually exclusive")
	case o.ephemeral && changed("data-dir"):
		return errors.New("--ephemeral and --data-dir are mutually exclusive")
	case o.Storage.Dir == "":
		return errors.New("--data-dir is empty")
	case changed("quota-backend-bytes") && o.Storage.QuotaBytes == 0:
		return fmt.Errorf("--quota-backend-bytes 0 is less than %d", storage.MinQuota)
	case o.Limits.MaxInFlight == 0:
		return errors.New("--max-requests-inflight 0 is less than 1")
	case o.minRequestTimeout < 0:
		return errors.New("--min-request-timeout can not be negative value")
	case o.verbosity < 0:
		return fmt.Errorf("--v %d is less than 0", o.verbosity)
	case o.logFormat != "text" && o.logFormat != "json":
		return fmt.Errorf("--logging-format %q is neither text nor json", o.logFormat)
	}
	hpa := &o.Controllers.Autoscaler
	if hpa.Tolerance < 0 {
		return fmt.Errorf("--horizontal-pod-autoscaler-tolerance %v is less than 0", hpa.Tolerance)
	}
	for _, f := range []struct {
		flag       string
		value, min time.Duration
	}{
		{"etcd-compaction-interval", o.Storage.CompactionInterval, 0},
		{"event-ttl", o.Storage.EventTTL, time.Second},
		{"request-timeout", o.Limits.RequestTimeout, time.Millisecond},
		{"shutdown-timeout", o.Limits.ShutdownTimeout, 0},
		{"horizontal-pod-autoscaler-sync-period", hpa.SyncPeriod, time.Millisecond},
		{"horizontal-pod-autoscaler-downscale-stabilization", hpa.DownscaleStabilization, 0},
		{"horizontal-pod-autoscaler-cpu-initialization-period", hpa.CPUInitializationPeriod, 0},
		{"horizontal-pod-autoscaler-initial-readiness-delay", hpa.InitialReadinessDelay, 0},
	} {
		if f.value < f.min {
			return fmt.Errorf("--%s %v is less than %v", f.flag, f.value, f.min)
		}
	}
	if elect := o.leaderElect || len(o.Storage.Endpoints) > 0 && !changed("leader-elect"); !elect {
		return nil
	}
	c := o.Controllers
	for _, f := range []struct {
		flag  string
		value time.Duration
	}{{"lease-duration", c.LeaseDuration}, {"renew-deadline", c.RenewDeadline}, {"retry-period", c.RetryPeriod}} {
		if f.value == 0 {
			return fmt.Errorf("--leader-elect-%s 0s is not greater than 0", f.flag)
		}
	}
	return nil
}

// parse parses the values that Options has as other types, and marks explicit empty ones.
func (o *options) parse() error {
	c := &o.Controllers
	for _, d := range []*time.Duration{&o.Storage.CompactionInterval, &o.Limits.ShutdownTimeout,
		&c.LeaseDuration, &c.RenewDeadline, &c.RetryPeriod, &c.Autoscaler.DownscaleStabilization,
		&c.Autoscaler.CPUInitializationPeriod, &c.Autoscaler.InitialReadinessDelay} {
		if *d == 0 {
			*d = -1 // none, not the default
		}
	}
	if c.Autoscaler.Tolerance == 0 {
		c.Autoscaler.Tolerance = -1
	}
	for _, list := range []*[]string{&o.Access.Issuers, &o.Access.Modes} {
		if len(*list) == 0 {
			*list = []string{""} // invalid, not the default
		}
	}
	if o.Storage.Prefix == "" {
		o.Storage.Prefix = "/" // invalid, not the default
	}
	if o.Controllers.Enabled == nil {
		o.Controllers.Enabled = []string{} // none, not the default
	}
	mode, err := strconv.ParseUint(o.kubeconfigMode, 8, 32)
	if err != nil || mode == 0 {
		return fmt.Errorf("--kubeconfig-mode %q is not an octal number like 0640", o.kubeconfigMode)
	}
	o.Addresses.KubeconfigMode = fs.FileMode(mode)
	q, err := resource.ParseQuantity(o.maxMemory)
	if err != nil {
		return fmt.Errorf("--max-memory-inflight %q is not a quantity like 512Mi", o.maxMemory)
	}
	o.Limits.MaxMemoryInFlight = q.Value()
	o.API.FeatureGates = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(o.gates)) {
		if o.API.FeatureGates[name], err = strconv.ParseBool(o.gates[name]); err != nil {
			return fmt.Errorf("--feature-gates: %s=%s is neither true nor false", name, o.gates[name])
		}
	}
	return nil
}
