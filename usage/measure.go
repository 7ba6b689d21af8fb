package usage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
)

// explicit has the names that every container must specify if they are limited. Upstream regrets this rule, and has no
// such rule for later resources.
var explicit = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
}

const requests = corev1.DefaultResourceRequestsPrefix

func podTracks(name corev1.ResourceName) bool {
	switch name {
	case countName(pods), corev1.ResourcePods,
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	s := string(name)
	return strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(s, corev1.ResourceRequestsHugePagesPrefix) ||
		strings.HasPrefix(s, requests) && (!native(s) || strings.HasPrefix(s, requests+resourcev1.ResourceDeviceClassPrefix))
}

// native reports whether the name is one of Kubernetes' own.
func native(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

func extended(name corev1.ResourceName) bool {
	s := string(name)
	return strings.HasPrefix(s, resourcev1.ResourceDeviceClassPrefix) ||
		!native(s) && !strings.HasPrefix(s, requests) && len(validation.IsQualifiedName(requests+s)) == 0
}

// podUsage returns the usage of a pod. A finished pod only counts as an object, and so does a pod whose deletion is
// overdue (PodUsageFunc).
func podUsage(obj runtime.Object, now time.Time) corev1.ResourceList {
	pod := obj.(*corev1.Pod)
	out := corev1.ResourceList{countName(pods): number(1)}
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return out
	}
	if t, grace := pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds; t != nil && grace != nil &&
		now.After(t.Add(time.Duration(*grace)*time.Second)) {
		return out
	}
	add(out, computing(podResources(pod)))
	return out
}

// computing returns requests and limits by the names that quotas use.
func computing(requested, limits corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{corev1.ResourcePods: number(1)}
	for name, q := range requested {
		switch {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			out[name] = q
			out[requests+name] = q
		case extended(name):
			out[requests+name] = q
		}
	}
	for _, name := range []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	} {
		if q, ok := limits[name]; ok {
			out["limits."+name] = q
		}
	}
	return out
}

// podMissing names the containers that lack a required value; the pod's own value is enough.
func podMissing(limited []corev1.ResourceName, obj runtime.Object) error {
	pod := obj.(*corev1.Pod)
	if own := ownResources(&pod.Spec); len(own.Requests)+len(own.Limits) > 0 {
		return nil
	}
	var parts []string
	for _, name := range explicit {
		if !slices.Contains(limited, name) {
			continue
		}
		var in []string
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range list {
				if _, ok := computing(list[i].Resources.Requests, list[i].Resources.Limits)[name]; !ok {
					in = append(in, list[i].Name)
				}
			}
		}
		if len(in) > 0 {
			parts = append(parts, fmt.Sprintf("%s for: %s", name, joined(in)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("must specify %s", strings.Join(parts, "; "))
}

func serviceTracks(name corev1.ResourceName) bool {
	return name == countName(services) || name == corev1.ResourceServices ||
		name == corev1.ResourceServicesNodePorts || name == corev1.ResourceServicesLoadBalancers
}

// serviceUsage counts node ports, whether or not they have been allocated yet.
func serviceUsage(obj runtime.Object, _ time.Time) corev1.ResourceList {
	s := &obj.(*corev1.Service).Spec
	ports, balancers := 0, 0
	switch s.Type {
	case corev1.ServiceTypeNodePort:
		ports = len(s.Ports)
	case corev1.ServiceTypeLoadBalancer:
		balancers = 1
		for _, p := range s.Ports {
			if p.NodePort != 0 || s.AllocateLoadBalancerNodePorts == nil || *s.AllocateLoadBalancerNodePorts {
				ports++
			}
		}
	}
	return corev1.ResourceList{
		countName(services): number(1), corev1.ResourceServices: number(1),
		corev1.ResourceServicesNodePorts:     number(int64(ports)),
		corev1.ResourceServicesLoadBalancers: number(int64(balancers)),
	}
}

const classSuffix = ".storageclass.storage.k8s.io/"

func claimTracks(name corev1.ResourceName) bool {
	for _, own := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
		if name == own || strings.HasSuffix(string(name), classSuffix+string(own)) {
			return true
		}
	}
	return name == countName(claims)
}

func claimUsage(obj runtime.Object, _ time.Time) corev1.ResourceList {
	c := obj.(*corev1.PersistentVolumeClaim)
	out := corev1.ResourceList{countName(claims): number(1)}
	class := StorageClass(c)
	count := func(name corev1.ResourceName, q resource.Quantity) {
		out[name] = q
		if class != "" {
			out[corev1.ResourceName(class+classSuffix)+name] = q
		}
	}
	count(corev1.ResourcePersistentVolumeClaims, number(1))
	if q, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		if given, ok := c.Status.AllocatedResources[corev1.ResourceStorage]; ok && given.Cmp(q) > 0 {
			q = given
		}
		q = q.DeepCopy()
		q.RoundUp(0) // whole bytes, as the status must have
		count(corev1.ResourceRequestsStorage, q)
	}
	return out
}

// StorageClass returns the name of the claim's class, which may be in a deprecated annotation; empty if there is none.
func StorageClass(c *corev1.PersistentVolumeClaim) string {
	if name, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return ptr.Deref(c.Spec.StorageClassName, "")
}

func deviceTracks(name corev1.ResourceName) bool {
	return name == countName(devices) || strings.HasSuffix(string(name), corev1.ResourceClaimsPerClass)
}

// deviceUsage counts the maximum number of devices of a class that may be allocated.
func deviceUsage(obj runtime.Object, _ time.Time) corev1.ResourceList {
	out := corev1.ResourceList{countName(devices): number(1)}
	for _, r := range obj.(*resourcev1.ResourceClaim).Spec.Devices.Requests {
		if e := r.Exactly; e != nil {
			add(out, devicesOf(e.DeviceClassName, e.AllocationMode, e.Count))
		}
		worst := corev1.ResourceList{}
		for _, e := range r.FirstAvailable {
			atLeast(worst, devicesOf(e.DeviceClassName, e.AllocationMode, e.Count))
		}
		add(out, worst)
	}
	return out
}

func devicesOf(class string, mode resourcev1.DeviceAllocationMode, n int64) corev1.ResourceList {
	switch mode {
	case resourcev1.DeviceAllocationModeExactCount:
	case resourcev1.DeviceAllocationModeAll:
		n = resourcev1.AllocationResultsMaxSize
	default:
		n = 0
	}
	return corev1.ResourceList{corev1.ResourceName(class + corev1.ResourceClaimsPerClass): number(n)}
}
