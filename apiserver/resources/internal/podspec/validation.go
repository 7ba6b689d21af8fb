package podspec

import (
	"cmp"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Not validated: schedulingGroup, whose feature gate is off, and block devices of pods with user namespaces. The
// messages for hostnameOverride and for volumes of env files differ from upstream's.

// Rules validates one spec. Its methods return the errors of upstream's functions for parts of a spec. Validations that
// depend only on a part are functions.
type Rules struct {
	spec *corev1.PodSpec
	// Pod reports whether the spec is that of a pod and not that of a template.
	Pod bool
	// Static reports whether a kubelet created the pod from a file.
	Static bool
	// Name is the pod's name, or empty. It is the prefix of the names of generated claims.
	Name string
	// had has the kinds of invalid values in the old object, which may stay.
	had Legacy
	// mountable are the volumes that containers can mount. claims are the names of the pod's claims.
	mountable map[string]*corev1.VolumeSource
	claims    map[string]bool
	// claimNames is the list of claims for error messages. It can be long, so it is built once.
	claimNames string
	// containers are the names of all containers. They are collected when they are first needed.
	containers map[string]bool
}

// NewRules returns the rules for a spec. had has the kinds of invalid values in the old object.
func NewRules(s *corev1.PodSpec, had Legacy) *Rules {
	r := &Rules{spec: s, had: had, mountable: map[string]*corev1.VolumeSource{}, claims: map[string]bool{}}
	for _, c := range s.ResourceClaims {
		if c.Name != "" {
			r.claims[c.Name] = true
		}
	}
	return r
}

// Validate validates the spec (core ValidatePodSpec).
func (r *Rules) Validate(at *field.Path) (errs field.ErrorList) {
	s := r.spec
	errs = check.Present(s.TerminationGracePeriodSeconds != nil, at.Child("terminationGracePeriodSeconds"), "")
	errs = append(errs, r.volumes(at.Child("volumes"))...)
	errs = append(errs, r.resourceClaims(at.Child("resourceClaims"))...)
	errs = append(errs, r.regular(at.Child("containers"))...)
	errs = append(errs, r.inits(at.Child("initContainers"))...)
	errs = append(errs, r.ephemerals(at.Child("ephemeralContainers"))...)
	errs = append(errs, r.podResources(at.Child("resources"))...)
	errs = append(errs, r.sharedPorts(at.Child("containers"))...)
	errs = append(errs, check.Required(s.RestartPolicy, at.Child("restartPolicy"),
		[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever})...)
	errs = append(errs, check.Required(s.DNSPolicy, at.Child("dnsPolicy"), []corev1.DNSPolicy{
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone})...)
	errs = append(errs, metav1validation.ValidateLabels(s.NodeSelector, at.Child("nodeSelector"))...)
	errs = append(errs, r.podSecurity(at.Child("securityContext"))...)
	errs = append(errs, r.affinity(s.Affinity, at.Child("affinity"))...)
	errs = append(errs, r.dns(at.Child("dnsConfig"))...)
	for i, gate := range s.ReadinessGates {
		errs = append(errs, check.QualifiedName(string(gate.ConditionType),
			at.Child("readinessGates").Index(i).Child("conditionType"))...)
	}
	errs = append(errs, schedulingGates(s.SchedulingGates, at.Child("schedulingGates"))...)
	errs = append(errs, r.spread(s.TopologySpreadConstraints, at.Child("topologySpreadConstraints"))...)
	errs = append(errs, r.hostProcesses(at)...)
	errs = append(errs, r.userNamespace(at)...)
	errs = append(errs, r.hostnameOverride(at)...)
	errs = append(errs, r.names(at)...)
	if s.PreemptionPolicy != nil {
		errs = append(errs, check.Required(*s.PreemptionPolicy, at.Child("preemptionPolicy"),
			[]corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever})...)
	}
	if s.Overhead != nil {
		errs = append(errs, r.Resources(&corev1.ResourceRequirements{Limits: s.Overhead}, check.ContainerResourceName,
			at.Child("overhead"))...)
	}
	errs = append(errs, r.system(at)...)
	return append(errs, r.envFiles(at)...)
}

// names validates the names in a spec, and some numbers.
func (r *Rules) names(at *field.Path) (errs field.ErrorList) {
	s := r.spec
	errs = append(errs, check.NonEmpty(cmp.Or(s.ServiceAccountName, s.DeprecatedServiceAccount),
		at.Child("serviceAccountName"), check.DNSSubdomain)...)
	errs = append(errs, check.NonEmpty(s.NodeName, at.Child("nodeName"), check.DNSSubdomain)...)
	if n := s.ActiveDeadlineSeconds; n != nil && (*n < 1 || *n > math.MaxInt32) {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *n, utilvalidation.InclusiveRangeError(1,
			math.MaxInt32)))
	}
	errs = append(errs, check.NonEmpty(s.Hostname, at.Child("hostname"), check.DNSLabel)...)
	errs = append(errs, check.NonEmpty(s.Subdomain, at.Child("subdomain"), check.DNSLabel)...)
	errs = append(errs, ValidateTolerations(s.Tolerations, at.Child("tolerations"))...)
	for i, alias := range s.HostAliases {
		here := at.Child("hostAliases").Index(i)
		errs = append(errs, check.IP(alias.IP, here.Child("ip"), r.had.hostIPs)...)
		errs = append(errs, check.All(alias.Hostnames, here.Child("hostnames"), check.DNSSubdomain)...)
	}
	errs = append(errs, check.NonEmpty(s.PriorityClassName, at.Child("priorityClassName"), check.DNSSubdomain)...)
	return append(errs, check.Given(s.RuntimeClassName, at.Child("runtimeClassName"), check.DNSSubdomain)...)
}

// hostnameOverride rejects other fields for the host name of a pod that has hostnameOverride (core
// validatePodHostName).
func (r *Rules) hostnameOverride(at *field.Path) (errs field.ErrorList) {
	s := r.spec
	if s.HostnameOverride == nil {
		return nil
	}
	here := at.Child("hostnameOverride")
	errs = append(errs, check.Forbid(check.IsTrue(s.SetHostnameAsFQDN), here,
		"may not be specified when setHostnameAsFQDN is true")...)
	errs = append(errs, check.Forbid(s.HostNetwork, here, "may not be specified when hostNetwork is true")...)
	errs = append(errs, check.MaxBytes(len(*s.HostnameOverride), 64, here)...)
	return append(errs, check.DNSSubdomain(*s.HostnameOverride, here)...)
}

// envFiles requires that files with variables are in emptyDir volumes (core validateFileKeyRefVolumes).
func (r *Rules) envFiles(at *field.Path) (errs field.ErrorList) {
	empty := map[string]bool{}
	for i := range r.spec.Volumes {
		empty[r.spec.Volumes[i].Name] = r.spec.Volumes[i].EmptyDir != nil
	}
	for c, at := range Containers(r.spec, at) {
		for i := range c.Env {
			from := c.Env[i].ValueFrom
			if from == nil || from.FileKeyRef == nil {
				continue
			}
			here, name := at.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName"), from.FileKeyRef.VolumeName
			if is, ok := empty[name]; !ok {
				errs = append(errs, field.NotFound(here, name))
			} else if !is {
				errs = append(errs, field.Invalid(here, name, "referenced volume must be of type emptyDir"))
			}
		}
	}
	return errs
}

// sharedPorts requires that each host port equals the container port if the pod uses the host's network. A template may
// omit host ports.
func (r *Rules) sharedPorts(at *field.Path) (errs field.ErrorList) {
	if !r.spec.HostNetwork {
		return nil
	}
	for i := range r.spec.Containers {
		for j, p := range r.spec.Containers[i].Ports {
			errs = append(errs, check.Reject((r.Pod || p.HostPort != 0) && p.HostPort != p.ContainerPort,
				at.Index(i).Child("ports").Index(j).Child("hostPort"), p.HostPort,
				"must match `containerPort` when `hostNetwork` is true")...)
		}
	}
	return errs
}

// dns validates the DNS configuration, which the policy None requires (core validatePodDNSConfig).
func (r *Rules) dns(at *field.Path) (errs field.ErrorList) {
	c, servers, searches := r.spec.DNSConfig, at.Child("nameservers"), at.Child("searches")
	if r.spec.DNSPolicy == corev1.DNSNone {
		switch {
		case c == nil:
			return field.ErrorList{field.Required(at, "must provide `dnsConfig` when `dnsPolicy` is None")}
		case len(c.Nameservers) == 0:
			return field.ErrorList{field.Required(servers, "must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if c == nil {
		return nil
	}
	errs = append(errs, check.Reject(len(c.Nameservers) > 3, servers, c.Nameservers,
		"must not have more than 3 nameservers")...)
	for i, server := range c.Nameservers {
		errs = append(errs, check.IP(server, servers.Index(i), r.had.nameservers)...)
	}
	errs = append(errs, check.Reject(len(c.Searches) > 32, searches, c.Searches,
		"must not have more than 32 search paths")...)
	errs = append(errs, check.Reject(len(strings.Join(c.Searches, " ")) > 2048, searches, c.Searches,
		"must not have more than 2048 characters (including spaces) in the search list")...)
	for i, search := range c.Searches {
		if search != "." {
			errs = append(errs, check.Apply(strings.TrimSuffix(search, "."), searches.Index(i),
				utilvalidation.IsDNS1123SubdomainWithUnderscore)...)
		}
	}
	for i, option := range c.Options {
		errs = append(errs, check.Present(option.Name != "", at.Child("options").Index(i), "must not be empty")...)
	}
	return errs
}

func schedulingGates(gates []corev1.PodSchedulingGate, at *field.Path) (errs field.ErrorList) {
	seen := check.Unique[string]{}
	for i, g := range gates {
		errs = append(errs, check.QualifiedName(g.Name, at.Index(i))...)
		errs = append(errs, seen.Add(g.Name, at.Index(i))...)
	}
	return errs
}

// userNamespace rejects host namespaces and raw devices in pods with user namespaces (core validateHostUsers). The
// paths have upstream's spelling.
func (r *Rules) userNamespace(at *field.Path) (errs field.ErrorList) {
	const text = "when `hostUsers` is false"
	s := r.spec
	if s.HostUsers == nil || *s.HostUsers {
		return nil
	}
	errs = append(errs, check.Forbid(s.HostNetwork, at.Child("hostNetwork"), text)...)
	errs = append(errs, check.Forbid(s.HostPID, at.Child("HostPID"), text)...)
	errs = append(errs, check.Forbid(s.HostIPC, at.Child("HostIPC"), text)...)
	if !r.had.userDevices {
		for c, at := range Containers(s, at) {
			errs = append(errs, check.Forbid(len(c.VolumeDevices) > 0, at.Child("volumeDevices"), text)...)
		}
	}
	return errs
}
