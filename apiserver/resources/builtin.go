package resources

import (
	"slices"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/resources/admissionregistration"
	"github.com/kubecascade/kubecascade/apiserver/resources/apiextensions"
	"github.com/kubecascade/kubecascade/apiserver/resources/apiregistration"
	"github.com/kubecascade/kubecascade/apiserver/resources/apps"
	"github.com/kubecascade/kubecascade/apiserver/resources/authentication"
	"github.com/kubecascade/kubecascade/apiserver/resources/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources/autoscaling"
	"github.com/kubecascade/kubecascade/apiserver/resources/batch"
	"github.com/kubecascade/kubecascade/apiserver/resources/certificates"
	"github.com/kubecascade/kubecascade/apiserver/resources/coordination"
	"github.com/kubecascade/kubecascade/apiserver/resources/core"
	"github.com/kubecascade/kubecascade/apiserver/resources/discovery"
	"github.com/kubecascade/kubecascade/apiserver/resources/dra"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/resources/metrics"
	"github.com/kubecascade/kubecascade/apiserver/resources/networking"
	"github.com/kubecascade/kubecascade/apiserver/resources/node"
	"github.com/kubecascade/kubecascade/apiserver/resources/policy"
	"github.com/kubecascade/kubecascade/apiserver/resources/rbac"
	"github.com/kubecascade/kubecascade/apiserver/resources/scheduling"
	"github.com/kubecascade/kubecascade/apiserver/resources/storage"
	"github.com/kubecascade/kubecascade/apiserver/resources/storagemigration"
)

// Builtin returns the entries of all resources that the server serves by default. The caller may change them.
func Builtin() []*Resource {
	return slices.DeleteFunc(Every(nil), func(r *Resource) bool { return r.Off })
}

// Every returns the entries of Builtin and those of optional versions that are served only on request. Entries that
// serve does not enable are Off.
func Every(serve *Serving) []*Resource { return Complete(byDefault(time.Now, nil), serve) }

// Metrics returns the entries of metrics.k8s.io, which are served only if there is something that measures pods.
// --runtime-config does not concern them: in a cluster metrics-server serves the group.
func Metrics(of metrics.Source) []*Resource { return metrics.Resources(of) }

// Declared returns the entries as the packages of the groups declare them: without optional versions, and with hooks
// that accept only the version for which they are written. now is the clock of their defaults; gates are the feature
// gates of their hooks, nil for the defaults.
func Declared(now func() time.Time, gates entry.Gates) []*Resource { return byDefault(now, gates) }

// Complete completes the entries of built-in kinds, in place: it adds their optional versions, and adapts hooks to the
// versions of their objects. Entries that serve does not enable are Off.
func Complete(all []*Resource, serve *Serving) []*Resource {
	wire(all)
	for _, r := range slices.Clone(all) {
		all = append(all, optional(r)...)
	}
	for _, r := range all {
		r.Off = !serve.serves(r.GroupVersion().WithResource(r.Plural), !r.Off)
	}
	return all
}

// byDefault returns the entries of all groups.
func byDefault(now func() time.Time, gates entry.Gates) []*Resource {
	clock := entry.ClockOf(now)
	return slices.Concat(
		core.Resources(clock),
		apiregistration.Resources(clock),
		apps.Resources(gates),
		core.Events(),
		authentication.Resources(),
		authorization.Resources(),
		autoscaling.Resources(gates),
		batch.Resources(),
		certificates.Resources(clock),
		networking.Resources(),
		policy.Resources(),
		rbac.Resources(),
		storage.Resources(),
		admissionregistration.Resources(),
		apiextensions.Resources(),
		scheduling.Resources(),
		coordination.Resources(),
		node.Resources(),
		discovery.Resources(),
		dra.Resources(clock),
		flowcontrol.Resources(),
		storagemigration.Resources(),
	)
}
