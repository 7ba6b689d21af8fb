package controllers

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/controllers/autoscale"
	"github.com/kubecascade/kubecascade/controllers/certificates"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// Manager is the field manager of the controllers of kube-controller-manager, and the name of their lease.
const Manager = "kube-controller-manager"

// Process has everything that the controllers need from the server in which they run.
type Process struct {
	// Client returns a client with a field manager and the identity of a service account of kube-system, or of the
	// server itself if account is empty.
	Client func(account, manager string) *loopback.Client
	// Gates are all feature gates.
	Gates map[string]bool
	// Authority signs certificates. Certificates has the certificates, in PEM, by which clients verify the server.
	Authority    certificates.Authority
	Certificates []byte
	// Webhooks call the conversion webhooks of CustomResourceDefinitions.
	Webhooks *webhook.Clients
	// CheckFirst creates or corrects the service kubernetes, its endpoints, the default ServiceCIDR, and the ConfigMap
	// extension-apiserver-authentication.
	CheckFirst func(context.Context) error
	// CheckTypes returns the warnings about the types in a policy's expressions.
	CheckTypes func(p *admissionv1.ValidatingAdmissionPolicy) []admissionv1.ExpressionWarning
	// Aggregator reaches the servers that APIServices name.
	Aggregator loopback.Aggregator
	// Collector returns a function that runs the garbage collector, with its client.
	Collector func(*loopback.Client) func(context.Context)
	// Simulate runs the simulation of nodes and pods.
	Simulate   bool
	Simulation simulation.Options
	Options
	// Version is the version of the server, and of simulated nodes.
	Version string
	Log     *slog.Logger
}

// Options are the settings of the controllers, with the flags of the fields. Package kubecascade sets the defaults in
// these comments; this package only sets those of Autoscaler.
type Options struct {
	// Enabled are the words of kube-controller-manager's flag: "*" enables all that are on by default, "name" enables
	// one, "-name" disables one. nil means "*"; an empty slice disables all.
	Enabled []string `flag:"controllers"`
	// Workers is the number of objects that a controller works on concurrently, by its name, such as
	// "deployment-controller" (flags --concurrent-*-syncs). Default: that of kube-controller-manager; for
	// "garbage-collector-controller", 0 chooses it.
	Workers map[string]int
	// Autoscaler configures horizontal-pod-autoscaler-controller.
	Autoscaler Autoscaler
	// CollectionEvents stores an Event for each object that the garbage collector deletes, with its owner and the reason.
	CollectionEvents bool `flag:"collection-events"`
	// LeaderElect runs the controllers only while this server holds the lease kube-system/kube-controller-manager;
	// default: true with Storage.Endpoints.
	LeaderElect *bool `flag:"leader-elect"`
	// LeaseDuration is the time after the last renewal at which other servers take over the lease; default 15 s.
	// RenewDeadline is the time for which a leader tries to renew it before it stops the controllers; default 10 s.
	// RetryPeriod is the interval between attempts; default 2 s.
	LeaseDuration time.Duration `flag:"leader-elect-lease-duration"`
	RenewDeadline time.Duration `flag:"leader-elect-renew-deadline"`
	RetryPeriod   time.Duration `flag:"leader-elect-retry-period"`
}

// Autoscaler are the settings of horizontal-pod-autoscaler-controller.
type Autoscaler = autoscale.Settings

// Part is a part of a controller. It joins the monitor of its context once.
type Part struct {
	// Controller is the controller that the part belongs to.
	Controller
	// Run runs until its context is done, and returns when everything that it started has ended.
	Run func(context.Context)
}

// run is Part.Run.
type run = func(context.Context)

// Parts returns the parts of the controllers that are on, and of the simulation. They may run more than once, one run
// after the other.
func (p *Process) Parts(on map[string]bool) []Part {
	var out []Part
	for _, c := range table {
		if on[c.Name] {
			out = append(out, p.partsOf(c)...)
		}
	}
	if p.Simulate {
		for _, c := range simulated {
			out = append(out, p.partsOf(c)...)
		}
	}
	return out
}

// ServerParts returns the parts of the controllers that are a part of kube-apiserver.
func (p *Process) ServerParts() (out []Part) {
	for _, c := range ofServer {
		out = append(out, p.partsOf(c)...)
	}
	return out
}

func (p *Process) partsOf(c Controller) (out []Part) {
	for _, r := range c.parts(&setup{p, c}) {
		out = append(out, Part{Controller: c, Run: r})
	}
	return out
}

// Run runs parts until ctx is done, and returns when all have ended.
func Run(ctx context.Context, parts []Part) {
	var all sync.WaitGroup
	for _, p := range parts {
		within := reconcile.Named(ctx, p.Name)
		if p.unmonitored {
			within = reconcile.Unmonitored(ctx)
		}
		all.Go(func() { p.Run(within) })
	}
	all.Wait()
}

// Monitored returns the number of parts that join a monitor.
func Monitored(parts []Part) (n int) {
	for _, p := range parts {
		if !p.unmonitored {
			n++
		}
	}
	return n
}

// setup is the input of the functions that make the parts of one controller.
type setup struct {
	process    *Process
	controller Controller
}

// workers returns the number of workers; 0 for the default of the engine.
func (s *setup) workers() int {
	if n, ok := s.process.Workers[s.controller.Name]; ok {
		return n
	}
	return s.controller.Workers
}

func (s *setup) client() *loopback.Client {
	return s.process.Client(s.controller.account, cmp.Or(s.controller.manager, Manager))
}

// engine returns the parts of a controller that uses package workload. Each run has a Controller of its own, as some
// have state.
func engine(made ...func() workload.Controller) func(*setup) []run {
	return func(s *setup) (out []run) {
		api := s.client()
		o := workload.Options{Log: s.process.Log, Workers: s.workers()}
		for _, c := range made {
			out = append(out, func(ctx context.Context) { workload.Run(ctx, c(), api, o) })
		}
		return out
	}
}

// one is engine for a controller that needs its setup.
func one(made func(s *setup) workload.Controller) func(*setup) []run {
	return func(s *setup) []run { return engine(func() workload.Controller { return made(s) })(s) }
}

// serves reports whether a resource is served in any version.
func (s *setup) serves(r workload.Resource) bool {
	return slices.ContainsFunc(s.client().API.Types().All(), func(t *loopback.Type) bool {
		return t.Group == r.Group && t.Plural == r.Plural
	})
}
