package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	flow "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Objects creates the missing objects that every cluster has besides namespaces and roles: the two system priority
// classes, which manifests of add-ons use, flow schemas and priority levels, and the objects of Check. The system
// namespaces must exist. If an object can't be created because its address is allocated or a quota forbids it, the
// error is only logged, as in upstream. Other errors are returned. (K pkg/registry/scheduling/rest)
func Objects(ctx context.Context, r *registry.Registry, o Options) error {
	jobs := o.jobs(r)
	for _, class := range systemPriorities() {
		jobs = append(jobs, func(context.Context) error {
			return ensure(ctx, r, schedulingv1.GroupName, "priorityclasses", class)
		})
	}
	err := runAll(ctx, r, append(jobs, flowJobs(r)...))
	warnOtherRange(r)
	return err
}

// runAll runs the jobs, several at a time, and returns an error if one has failed.
func runAll(ctx context.Context, r *registry.Registry, jobs []func(context.Context) error) error {
	if err := r.Fresh(ctx); err != nil { // each job first reads the cache
		return err
	}
	var g errgroup.Group
	g.SetLimit(16)
	for _, job := range jobs {
		g.Go(func() error {
			err := job(ctx)
			if rejected(err) {
				r.Log.Error("failed to create or update an object at the start", "err", err)
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return r.Fresh(ctx) // the first request needs the objects
}

// warnOtherRange logs a warning if the default ServiceCIDR has another range than the flag, which then has no effect.
func warnOtherRange(r *registry.Registry) {
	l := r.AsServer(managers[networkingv1.GroupName])
	o, _ := r.Cache.Get(l.Key(r.Types.Lookup(networkingv1.GroupName, "v1", "servicecidrs"), "", serviceName))
	var c networkingv1.ServiceCIDR
	if o == nil || o.Err != nil || json.Unmarshal(o.JSON, &c) != nil {
		return
	}
	if flag := r.Ranges.Addresses.String(); !slices.Contains(c.Spec.CIDRs, flag) {
		r.Log.Warn("the default ServiceCIDR has another range than --service-cluster-ip-range; the flag has no effect",
			"cidrs", c.Spec.CIDRs, "flag", flag)
	}
}

// rejected reports whether an error can be caused by clients, for example by a webhook that does not respond. The
// server must still start, so that they can correct the cause.
func rejected(err error) bool {
	if err == nil {
		return false
	}
	code := status.Of(err).Code
	return code >= 400 && code <= 500 || code == http.StatusInsufficientStorage || errors.Is(err, storage.ErrCorrupt)
}

// flowJobs returns jobs that create the flow schemas and priority levels of a new cluster (AS
// pkg/apis/flowcontrol/bootstrap). The mandatory objects apply even if they are missing.
func flowJobs(r *registry.Registry) (jobs []func(context.Context) error) {
	add := func(plural string, obj registry.Object) {
		jobs = append(jobs, func(ctx context.Context) error {
			return ensure(ctx, r, flowcontrolv1.GroupName, plural, obj)
		})
	}
	levels := slices.Concat(flow.MandatoryPriorityLevelConfigurations, flow.SuggestedPriorityLevelConfigurations)
	for _, level := range levels {
		add("prioritylevelconfigurations", level)
	}
	for _, schema := range slices.Concat(flow.MandatoryFlowSchemas, flow.SuggestedFlowSchemas) {
		add("flowschemas", schema)
	}
	return jobs
}

// ensureServiceCIDR creates the default ServiceCIDR with the range of the flag, and sets its condition Ready if it is
// missing (K pkg/controlplane/controller/defaultservicecidr). It does not change one with another range.
func ensureServiceCIDR(ctx context.Context, r *registry.Registry) error {
	c := &networkingv1.ServiceCIDR{ObjectMeta: meta("", serviceName),
		Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{r.Ranges.Addresses.String()}}}
	if err := ensure(ctx, r, networkingv1.GroupName, "servicecidrs", c); err != nil {
		return err
	}
	return put(ctx, r, networkingv1.GroupName, "servicecidrs/status", c,
		func(now *networkingv1.ServiceCIDR) error {
			if now.DeletionTimestamp != nil || !slices.Equal(now.Spec.CIDRs, c.Spec.CIDRs) ||
				apimeta.FindStatusCondition(now.Status.Conditions, networkingv1.ServiceCIDRConditionReady) != nil {
				return nil
			}
			apimeta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{
				Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionTrue,
				Message: "Kubernetes default Service CIDR is ready",
			})
			return nil
		})
}

// managers are the field managers of the objects by group.
var managers = map[string]string{
	corev1.GroupName: "kube-apiserver", schedulingv1.GroupName: "kube-apiserver", discoveryv1.GroupName: "kube-apiserver",
	rbacv1.GroupName:        "kube-apiserver",
	networkingv1.GroupName:  "kubernetes-service-cidr-controller",
	flowcontrolv1.GroupName: "api-priority-and-fairness-config-producer-v1", // K pkg/registry/flowcontrol/ensurer
}

// systemPriorities returns the priority classes that clients can't create.
func systemPriorities() []*schedulingv1.PriorityClass {
	return []*schedulingv1.PriorityClass{{
		ObjectMeta:  metav1.ObjectMeta{Name: "system-node-critical"},
		Value:       2000001000,
		Description: "Used for system critical pods that must not be moved from their current node.",
	}, {
		ObjectMeta: metav1.ObjectMeta{Name: "system-cluster-critical"},
		Value:      2000000000,
		Description: "Used for system critical pods that must run in the cluster, " +
			"but can be moved to another node if necessary.",
	}}
}

// service returns the service through which pods reach this server.
func (o *Options) service(address string) *corev1.Service {
	single := corev1.IPFamilyPolicySingleStack
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: serviceName, Namespace: metav1.NamespaceDefault,
			Labels: map[string]string{"provider": "kubernetes", "component": "apiserver"}},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: address, SessionAffinity: corev1.ServiceAffinityNone,
			IPFamilyPolicy: &single, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP,
				TargetPort: intstr.FromInt32(int32(o.SecurePort))}},
		},
	}
	if o.NodePort > 0 {
		s.Spec.Type, s.Spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, int32(o.NodePort)
	}
	return s
}
