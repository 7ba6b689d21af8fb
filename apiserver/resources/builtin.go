package resources

import (
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/admissionregistration"
	"github.com/kubecascade/kubecascade/apiserver/resources/apps"
	"github.com/kubecascade/kubecascade/apiserver/resources/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources/autoscaling"
	"github.com/kubecascade/kubecascade/apiserver/resources/batch"
	"github.com/kubecascade/kubecascade/apiserver/resources/certificates"
	"github.com/kubecascade/kubecascade/apiserver/resources/core"
	"github.com/kubecascade/kubecascade/apiserver/resources/dra"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/flowcontrol"
	declareddiscovery "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/discovery"
	declarednode "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/node"
	"github.com/kubecascade/kubecascade/apiserver/resources/networking"
	"github.com/kubecascade/kubecascade/apiserver/resources/rbac"
	"github.com/kubecascade/kubecascade/apiserver/resources/storage"
)

// Builtin returns the entries of all resources that the server serves by default. The caller may change them.
func Builtin() []*Resource {
	return slices.DeleteFunc(Every(nil), func(r *Resource) bool { return r.Off })
}

// Every returns the entries of Builtin and those of optional versions, which must be enabled. Entries that the argument
// serve does not enable are Off.
func Every(serve *Serving) []*Resource { return Complete(Declared(time.Now, nil), serve) }

// Complete changes the entries of built-in kinds in place. It adds their optional versions, and adapts hooks to the
// versions of their objects. Entries that the argument serve does not enable are Off.
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

// Declared returns the entries as the packages of the groups declare them: without optional versions, and with hooks
// that accept only the version for which they are written. The defaults of objects use the clock now. The hooks use the
// feature gates in gates; nil means the default gates.
func Declared(now func() time.Time, gates entry.Gates) []*Resource {
	clock := entry.ClockOf(now)
	return slices.Concat(
		core.Resources(clock),
		entry.Group(apiregistrationv1.SchemeGroupVersion, apiServices(clock)),
		apps.Resources(gates),
		core.Events(),
		entry.Group(authenticationv1.SchemeGroupVersion, selfSubjectReviews(), tokenReviews()),
		authorization.Resources(),
		autoscaling.Resources(gates),
		batch.Resources(),
		certificates.Resources(clock),
		networking.Resources(),
		entry.Group(policyv1.SchemeGroupVersion, podDisruptionBudgets()),
		rbac.Resources(),
		storage.Resources(),
		admissionregistration.Resources(),
		entry.Group(apiextensionsv1.SchemeGroupVersion, customResourceDefinitions()),
		entry.Group(schedulingv1.SchemeGroupVersion, priorityClasses()),
		entry.Group(coordinationv1.SchemeGroupVersion, leases()),
		entry.Declared(declarednode.RegisterValidations, nil, entry.Group(nodev1.SchemeGroupVersion, runtimeClasses())),
		entry.Declared(declareddiscovery.RegisterValidations, nil,
			entry.Group(discoveryv1.SchemeGroupVersion, endpointSlices())),
		dra.Resources(clock),
		flowcontrol.Resources(),
		entry.Group(storagemigrationv1.SchemeGroupVersion, storageVersionMigrations()),
	)
}
