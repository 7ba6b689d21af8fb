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
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/internal/server"
)

// KubernetesVersion is the release of Kubernetes whose behaviour is reproduced.
const KubernetesVersion = server.KubernetesVersion

// FeatureGates are the feature gates that have an effect, with their defaults.
func FeatureGates() map[string]bool { return featuregates.Defaults() }

// Server is a running server. Its methods may be called from any goroutine.
type Server struct{ s *server.Server }

// Start starts a server and returns when it accepts requests. ctx only limits the start; the server runs until Stop.
// Its errors name fields of Options. errors.Unwrap returns such an error as "kubecascade serve" prints it, which names
// flags instead.
func Start(ctx context.Context, o Options) (*Server, error) {
	c, err := o.config()
	if err != nil {
		return nil, fieldError{err}
	}
	s, err := server.Start(ctx, c)
	if err != nil {
		return nil, fieldError{err}
	}
	return &Server{s}, nil
}

// Check reports whether the values of o are valid, alone and in combination. It opens and reads no files. Errors are as
// those of Start.
func (o Options) Check() error {
	if _, err := o.config(); err != nil {
		return fieldError{err}
	}
	return nil
}

// Config returns the configuration of an administrator's client. Each call returns another copy, with the certificate
// that is valid now. Its limit of requests is that of envtest (controller-runtime pkg/envtest/server.go), as
// client-go's default of 5 requests per second would make a test wait.
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

// URL is that of the port for HTTPS, without a slash at the end.
func (s *Server) URL() string { return s.s.URL() }

// InsecureURL is that of the port for plain HTTP; empty if there is none.
func (s *Server) InsecureURL() string { return s.s.InsecureURL() }

// Kubeconfig is the path of a kubeconfig for an administrator. With temporary data Stop removes the file.
func (s *Server) Kubeconfig() string { return s.s.Kubeconfig() }

// Stop ends the server and waits until it has ended. The error is the first one with which something did not end
// properly, or with which the server had ended by itself.
func (s *Server) Stop() error { return s.s.Stop() }

// Done is closed when the server has ended, whether by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.s.Done() }

// Err is what Stop returns once Done is closed, and nil before.
func (s *Server) Err() error { return s.s.Err() }

// Settle waits until the enabled controllers have nothing to do: they have processed everything that was written before
// the call, and what followed from it, with the Events about it, and nothing was written in the meantime. Passes that are due
// a second later or more don't count: the next time of a CronJob, or what is retried after repeated failures, such as
// the deletion of a namespace whose content has finalizers. A server whose objects are written all the time never
// settles, nor does one that needs the lease of the controllers and doesn't hold it. ctx limits the wait; the error then
// states what is going on, and wraps the cause of ctx.
func (s *Server) Settle(ctx context.Context) error {
	_, err := s.s.Settle(ctx, 0)
	return err
}

// Advance puts the server's clock forward, which the times in objects, the lives of tokens and the controllers follow:
// what waits for a time that is then past is due at once, such as the next Job of a CronJob, the deletion of a finished
// Job after its TTL, or of pods that tolerate a taint for some time. Settle waits for what follows. Timeouts of requests,
// the lives of Events and of certificates in TLS, leases of elections and the times in managedFields stay those of the
// machine. The error reports that d is negative, or that the clock would be more than 100 years ahead.
func (s *Server) Advance(d time.Duration) error { return s.s.Advance(d) }

// Now is the time by the server's clock, which is that of the machine before Advance is called.
func (s *Server) Now() time.Time { return s.s.Now() }

// SaveSnapshot writes all that is stored, with its history, to a file, in the format of "etcdctl snapshot save". It has
// every write that was acknowledged before the call. A file of that name is replaced when the new one is whole. A
// server with the file as Options.Storage.FromSnapshot begins with it; "etcdutl snapshot restore" makes a data
// directory of it, with which kube-apiserver works, too.
func (s *Server) SaveSnapshot(ctx context.Context, file string) error {
	return s.s.SaveSnapshot(ctx, file)
}

// Checkpoint remembers the state of the server, with every write that was acknowledged before the call, under a name,
// for Rollback. It replaces an earlier checkpoint with that name; there may be 16. An empty name is "default". It
// copies nothing: what it costs in memory are the objects that are changed or deleted later. The server must have
// temporary data, and not be read-only.
func (s *Server) Checkpoint(ctx context.Context, name string) error {
	_, err := s.s.Checkpoint(ctx, name)
	return named(err)
}

// Rollback returns to the state of a checkpoint, which may be used again; an empty name is the one that was made last.
// It costs what was changed since, and not what is stored.
//
// All objects are those of the checkpoint, with their uids and times. What was changed since has a new resourceVersion,
// later than all before. Watches end with 410, and earlier resourceVersions and continue tokens get it, so that clients
// list again. A concurrent request is carried out before or after it. Controllers start again: Settle waits
// until they have looked at the state. The clock is as far ahead as it was (Advance). Objects that expire (Events) and
// were changed, or have expired, since then live for the full time again.
//
// ctx limits the wait for other calls. After an error that leaves the state uncertain, the server ends.
func (s *Server) Rollback(ctx context.Context, name string) error {
	_, err := s.s.Rollback(ctx, name)
	return named(err)
}

// named makes an error name fields of Options; nil stays nil.
func named(err error) error {
	if err == nil {
		return nil
	}
	return fieldError{err}
}

// fieldError is an error whose message names fields of Options; the wrapped one names flags.
type fieldError struct{ error }

// Unwrap returns the error that names flags.
func (e fieldError) Unwrap() error { return e.error }

var flags = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

// Error replaces the names of flags.
func (e fieldError) Error() string {
	names := fields()
	return "kubecascade: " + flags.ReplaceAllStringFunc(e.error.Error(), func(flag string) string {
		if name, ok := names[flag]; ok {
			return name
		}
		return flag
	})
}

// fields are the fields of Options, as Go code names them, by their flags.
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
