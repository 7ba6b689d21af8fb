package kubecascade

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/internal/server"
)

// KubernetesVersion is the release of Kubernetes whose behaviour the server reproduces.
const KubernetesVersion = server.KubernetesVersion

// FeatureGates returns the feature gates that have an effect, with their defaults.
func FeatureGates() map[string]bool { return featuregates.Defaults() }

// Server is a running server. Its methods may be called from any goroutine.
type Server struct {
	s      *server.Server
	faults *faults.Set
}

// Start starts a server and returns when it accepts requests. ctx limits only the start; the server runs until Stop.
// Errors name fields of Options. errors.Unwrap returns the error that "kubecascade serve" prints, which names flags
// instead.
func Start(ctx context.Context, o Options) (*Server, error) {
	c, err := o.config()
	if err != nil {
		return nil, fieldError{err}
	}
	s, err := server.Start(ctx, c)
	if err != nil {
		return nil, fieldError{err}
	}
	return &Server{s, c.API.Faults}, nil
}

// Check reports whether the values of o are valid, alone and in combination. It opens and reads no files. Errors are
// like those of Start.
func (o Options) Check() error {
	if _, err := o.config(); err != nil {
		return fieldError{err}
	}
	return nil
}

// Config returns the configuration of an administrator's client. Each call returns a new copy with the current
// certificate. The rate limit is that of envtest (controller-runtime pkg/envtest/server.go), because client-go's
// default of 5 requests per second would slow down tests.
func (s *Server) Config() *rest.Config {
	cert, key, err := s.s.Administrator()
	if err != nil {
		panic(fmt.Sprintf("kubecascade: encoding a key that was read: %v", err))
	}
	return &rest.Config{
		Host: s.URL(), QPS: 1000, Burst: 2000,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.s.Authority(), CertData: cert, KeyData: key},
	}
}

// URL returns the URL of the HTTPS port, without a trailing slash.
func (s *Server) URL() string { return s.s.URL() }

// InsecureURL returns the URL of the plain HTTP port, without a trailing slash; empty if there is none.
func (s *Server) InsecureURL() string { return s.s.InsecureURL() }

// Kubeconfig returns the path of a kubeconfig for an administrator. Stop removes the file if the server's data is
// temporary.
func (s *Server) Kubeconfig() string { return s.s.Kubeconfig() }

// Stop stops the server and waits until it has ended. The error reports why the server had ended by itself, and
// failures of the shutdown; nil if there are none.
func (s *Server) Stop() error { return s.s.Stop() }

// Done returns a channel that is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.s.Done() }

// Err returns nil until Done is closed, and then the error of Stop.
func (s *Server) Err() error { return s.s.Err() }

// Settle waits until the enabled controllers are idle: they have processed all writes before the call, and their own
// writes that followed, and have recorded their Events. If objects are written while Settle checks this, it checks
// again. Settle does not wait for work that is due in a second or later: the next Job of a CronJob, or a retry after
// repeated failures, such as the deletion of a namespace whose content has finalizers. Settle never succeeds while
// objects are written continuously, or while the server needs the lease of the controllers and does not hold it. ctx
// limits the wait. The error then describes the current work of the controllers, and wraps the cause of ctx.
func (s *Server) Settle(ctx context.Context) error {
	_, err := s.s.Settle(ctx, 0)
	return err
}

// Advance advances the server's clock by d. Timestamps in objects, the expiry of tokens and the controllers follow this
// clock. Work that was scheduled for the skipped time is due at once: the next Job of a CronJob, the deletion of a
// finished Job after its TTL, the eviction of pods after tolerationSeconds. Settle waits for this work. Timeouts of
// requests, the expiry of Events and of TLS certificates, leader election and the times in managedFields follow the
// machine's clock. Advance returns an error if d is negative, or if the clock would be more than 100 years ahead.
func (s *Server) Advance(d time.Duration) error { return s.s.Advance(d) }

// Now returns the time of the server's clock. Before the first Advance it is the time of the machine's clock.
func (s *Server) Now() time.Time { return s.s.Now() }

// SaveSnapshot writes all stored objects and their history to a file, in the format of "etcdctl snapshot save". The
// snapshot contains every write that was acknowledged before the call. An existing file is replaced only when the new
// one is complete. Options.Storage.FromSnapshot starts a server from the snapshot. "etcdutl snapshot restore" creates a
// data directory from it, which kube-apiserver can use, too.
func (s *Server) SaveSnapshot(ctx context.Context, file string) error {
	return s.s.SaveSnapshot(ctx, file)
}

// Faults returns the plans of faults that the server injects into requests (docs/faults.md). Each is in force until it
// is removed, or the server ends.
func (s *Server) Faults() *faults.Set { return s.faults }

// FaultPlan is a plan of faults. FaultReport has the plans in force, and the injected faults.
type (
	FaultPlan   = faults.Plan
	FaultReport = faults.Report
)

// ParseFaults returns the plan of a document in YAML or JSON. Errors have the path of the wrong field.
func ParseFaults(document []byte) (FaultPlan, error) { return faults.Parse(document) }

// Checkpoint records the state of the server under a name, for Rollback. The state contains every write that was
// acknowledged before the call. A checkpoint replaces an earlier one with the same name. A server has at most 16
// checkpoints. An empty name means "default". Checkpoint copies no objects: a checkpoint costs memory only for objects
// that are changed or deleted later. The server must have temporary data, and must not be read-only.
func (s *Server) Checkpoint(ctx context.Context, name string) error {
	_, err := s.s.Checkpoint(ctx, name)
	return named(err)
}

// Rollback returns the server to the state of a checkpoint, which can be used again. An empty name means the latest
// checkpoint. The duration depends on the number of objects that have changed since, not on the number of stored
// objects.
//
// All objects are those of the checkpoint, with their UIDs and timestamps. Objects that have changed since get a new
// resourceVersion, later than all earlier ones. Watches end with 410, and requests with earlier resourceVersions and
// continue tokens get 410, so that clients list again. A concurrent request is executed before or after the rollback.
// Controllers start again: Settle waits until they have processed the restored state. The offset of the server's clock
// (Advance) is restored. Events that were changed, or have expired, since the checkpoint get their full TTL again.
//
// ctx limits the wait for concurrent calls of Checkpoint and Rollback. If an error leaves the state uncertain, the
// server ends.
func (s *Server) Rollback(ctx context.Context, name string) error {
	_, err := s.s.Rollback(ctx, name)
	return named(err)
}

// named returns an error whose message names fields of Options; nil for nil.
func named(err error) error {
	if err == nil {
		return nil
	}
	return fieldError{err}
}

// fieldError is an error whose message names fields of Options. The wrapped error names flags.
type fieldError struct{ error }

// Unwrap returns the error that names flags.
func (e fieldError) Unwrap() error { return e.error }

var flags = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

// Error returns the message of the wrapped error, with fields instead of flags.
func (e fieldError) Error() string {
	names := fields()
	return "kubecascade: " + flags.ReplaceAllStringFunc(e.error.Error(), func(flag string) string {
		if name, ok := names[flag]; ok {
			return name
		}
		return flag
	})
}

// fields maps flags to the fields of Options, in Go notation.
func fields() map[string]string {
	names := map[string]string{}
	addFields(names, "Options", reflect.TypeFor[Options]())
	for _, c := range controllers.All() {
		if c.Flag != "" {
			names["--"+c.Flag] = fmt.Sprintf("Options.Controllers.Workers[%q]", c.Name)
		}
	}
	return names
}

func addFields(names map[string]string, path string, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		if tag := f.Tag.Get("flag"); tag != "" {
			for flag := range strings.SplitSeq(tag, ",") {
				names["--"+flag] = path + "." + f.Name
			}
		} else if f.Type.Kind() == reflect.Struct {
			addFields(names, path+"."+f.Name, f.Type)
		}
	}
}
