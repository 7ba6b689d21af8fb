package podspec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// container validates the common fields of all containers (core validateContainerCommon).
func (r *Rules) container(c *corev1.Container, at *field.Path) field.ErrorList {
	errs := check.Needed(c.Name, at.Child("name"), check.DNSLabel)
	errs = append(errs, check.RequireAll(at, "image", c.Image)...)
	errs = append(errs, check.Required(c.TerminationMessagePolicy, at.Child("terminationMessagePolicy"),
		[]corev1.TerminationMessagePolicy{
			corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError})...)
	errs = append(errs, containerPorts(c.Ports, at.Child("ports"))...)
	errs = append(errs, validateEnv(c.Env, at.Child("env"))...)
	errs = append(errs, envFrom(c.EnvFrom, at.Child("envFrom"))...)
	errs = append(errs, r.mounts(c, at.Child("volumeMounts"))...)
	errs = append(errs, r.devices(c, at.Child("volumeDevices"))...)
	errs = append(errs, PullPolicy(c.ImagePullPolicy, at.Child("imagePullPolicy"))...)
	errs = append(errs, r.Resources(&c.Resources, check.ContainerResourceName, at.Child("resources"))...)
	errs = append(errs, r.resizePolicies(c.ResizePolicy, at.Child("resizePolicy"))...)
	return append(errs, check.Optional(c.SecurityContext, at.Child("securityContext"), r.securityContext)...)
}

func containerPorts(ports []corev1.ContainerPort, at *field.Path) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range ports {
		p, here := &ports[i], at.Index(i)
		if faults := utilvalidation.IsValidPortName(p.Name); p.Name != "" && len(faults) != 0 {
			errs = append(errs, check.Apply(p.Name, here.Child("name"), utilvalidation.IsValidPortName)...)
		} else if names[p.Name] {
			errs = append(errs, field.Duplicate(here.Child("name"), p.Name))
		} else if p.Name != "" {
			names[p.Name] = true
		}
		if p.ContainerPort == 0 {
			errs = append(errs, check.RequireAll(here, "containerPort", "")...)
		} else {
			errs = append(errs, check.PortNumber(p.ContainerPort, here.Child("containerPort"))...)
		}
		if p.HostPort != 0 {
			errs = append(errs, check.PortNumber(p.HostPort, here.Child("hostPort"))...)
		}
		errs = append(errs, check.Protocol(p.Protocol, here.Child("protocol"))...)
	}
	return errs
}

// hostPorts rejects a host port that another container also has.
func hostPorts(containers []corev1.Container, at *field.Path) (errs field.ErrorList) {
	taken := check.Unique[string]{}
	for i := range containers {
		for j, p := range containers[i].Ports {
			if p.HostPort != 0 {
				errs = append(errs, taken.Add(fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort),
					at.Index(i).Child("ports").Index(j).Child("hostPort"))...)
			}
		}
	}
	return errs
}

// regular validates the regular containers (core validateContainers).
func (r *Rules) regular(at *field.Path) (errs field.ErrorList) {
	list := r.spec.Containers
	if len(list) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	names := check.Unique[string]{}
	for i := range list {
		c, here := &list[i], at.Index(i)
		errs = append(errs, r.container(c, here)...)
		errs = append(errs, names.Add(c.Name, here.Child("name"))...)
		errs = append(errs, probes(c, r.spec.TerminationGracePeriodSeconds, here)...)
		errs = append(errs, restartRules(c, here)...)
	}
	return append(errs, hostPorts(list, at)...)
}

// inits validates the init containers. Sidecars, which always restart, have the rules of regular containers (core
// validateInitContainers).
func (r *Rules) inits(at *field.Path) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range r.spec.Containers {
		names[r.spec.Containers[i].Name] = true
	}
	for i := range r.spec.InitContainers {
		c, here := &r.spec.InitContainers[i], at.Index(i)
		errs = append(errs, r.container(c, here)...)
		errs = append(errs, restartRules(c, here)...)
		if names[c.Name] {
			errs = append(errs, field.Duplicate(here.Child("name"), c.Name))
		} else if c.Name != "" {
			names[c.Name] = true
		}
		errs = append(errs, hostPorts([]corev1.Container{*c}, at)...)
		if Sidecar(c) {
			errs = append(errs, probes(c, r.spec.TerminationGracePeriodSeconds, here)...)
		} else {
			errs = append(errs, noProbes(c, here)...)
			if !r.had.restartingInits {
				errs = append(errs, restarting(c, here.Child("resizePolicy"))...)
			}
		}
	}
	return errs
}

// restarting rejects policies that restart a container when it is resized.
func restarting(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	for i, p := range c.ResizePolicy {
		errs = append(errs, check.Reject(p.RestartPolicy == corev1.RestartContainer, at.Index(i).Child("restartPolicy"),
			p.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers")...)
	}
	return errs
}

// Sidecar reports whether an init container is a sidecar, which runs as long as the pod.
func Sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func noProbes(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	const text = "may not be set for init containers without restartPolicy=Always"
	errs = append(errs, check.Forbid(c.Lifecycle != nil, at.Child("lifecycle"), text)...)
	errs = append(errs, check.Forbid(c.LivenessProbe != nil, at.Child("livenessProbe"), text)...)
	errs = append(errs, check.Forbid(c.ReadinessProbe != nil, at.Child("readinessProbe"), text)...)
	return append(errs, check.Forbid(c.StartupProbe != nil, at.Child("startupProbe"), text)...)
}

var (
	containerRestarts = []corev1.ContainerRestartPolicy{
		corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure,
	}
	restartActions = []corev1.ContainerRestartRuleAction{
		corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers,
	}
	exitCodeOperators = []corev1.ContainerRestartRuleOnExitCodesOperator{
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn,
	}
)

// restartRules validates a container's own restart policy. Rules for exit codes require such a policy (core
// validateContainerRestartPolicy).
func restartRules(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.GivenOneOf(c.RestartPolicy, at.Child("restartPolicy"), containerRestarts)...)
	errs = append(errs, check.Present(c.RestartPolicy != nil || len(c.RestartPolicyRules) == 0, at.Child("restartPolicy"),
		"must specify restartPolicy when restart rules are used")...)
	at = at.Child("restartPolicyRules")
	errs = append(errs, check.MaxItems(len(c.RestartPolicyRules), 20, at)...)
	for i, rule := range c.RestartPolicyRules {
		here := at.Index(i)
		errs = append(errs, check.OneOf(rule.Action, here.Child("action"), restartActions)...)
		codes := here.Child("exitCodes")
		if rule.ExitCodes == nil {
			errs = append(errs, field.Required(codes, "must be specified"))
			continue
		}
		errs = append(errs, check.OneOf(rule.ExitCodes.Operator, codes.Child("operator"), exitCodeOperators)...)
		errs = append(errs, check.MaxItems(len(rule.ExitCodes.Values), 255, codes.Child("values"))...)
	}
	return errs
}

// ephemerals validates the ephemeral containers (core validateEphemeralContainers).
func (r *Rules) ephemerals(at *field.Path) (errs field.ErrorList) {
	targets := map[string]bool{}
	for _, c := range slices.Concat(r.spec.Containers, r.spec.InitContainers) {
		targets[c.Name] = true
	}
	names := check.Unique[string](maps.Clone(targets))
	for i := range r.spec.EphemeralContainers {
		e, here := &r.spec.EphemeralContainers[i], at.Index(i)
		c := (*corev1.Container)(&e.EphemeralContainerCommon)
		errs = append(errs, r.container(c, here)...)
		errs = append(errs, ImageSpace(c, here)...)
		errs = append(errs, names.Add(e.Name, here.Child("name"))...)
		if e.TargetContainerName != "" && !targets[e.TargetContainerName] {
			errs = append(errs, field.NotFound(here.Child("targetContainerName"), e.TargetContainerName))
		}
		const text = "cannot be set for an Ephemeral Container"
		errs = append(errs, onlyFields(e.EphemeralContainerCommon, text, here, "Name", "Image", "Command", "Args",
			"WorkingDir", "EnvFrom", "Env", "VolumeMounts", "VolumeDevices", "TerminationMessagePath",
			"TerminationMessagePolicy", "ImagePullPolicy", "SecurityContext", "Stdin", "StdinOnce", "TTY")...)
		for j, m := range e.VolumeMounts {
			errs = append(errs, check.Forbid(m.SubPath != "", here.Child("volumeMounts").Index(j).Child("subPath"), text)...)
			errs = append(errs, check.Forbid(m.SubPathExpr != "", here.Child("volumeMounts").Index(j).Child("subPathExpr"),
				text)...)
		}
	}
	return errs
}

// onlyFields rejects fields of a struct that are not among the allowed ones.
func onlyFields(v any, text string, at *field.Path, allowed ...string) (errs field.ErrorList) {
	value := reflect.ValueOf(v)
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		errs = append(errs, check.Forbid(!slices.Contains(allowed, name) && !value.Field(i).IsZero(),
			at.Child(strings.ToLower(name[:1])+name[1:]), text)...)
	}
	return errs
}

// ImageSpace rejects white space around an image's name. Templates may have such white space.
func ImageSpace(c *corev1.Container, at *field.Path) field.ErrorList {
	return check.Reject(strings.TrimSpace(c.Image) != c.Image, at.Child("image"), c.Image,
		"must not have leading or trailing whitespace")
}

// ResizableResources are the resources for which a container may have a resize policy.
var ResizableResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// resizePolicies allows at most one policy for each resource. A container that never restarts may not have a policy
// that restarts it.
func (r *Rules) resizePolicies(policies []corev1.ContainerResizePolicy, at *field.Path) (errs field.ErrorList) {
	seen := check.Unique[corev1.ResourceName]{}
	for i, p := range policies {
		errs = append(errs, seen.Add(p.ResourceName, at.Index(i))...)
		errs = append(errs, check.Required(p.ResourceName, at, ResizableResources)...)
		errs = append(errs, check.Required(p.RestartPolicy, at,
			[]corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.RestartContainer})...)
		restarts := r.spec.RestartPolicy != corev1.RestartPolicyNever
		errs = append(errs, check.Reject(!restarts && p.RestartPolicy != corev1.NotRequired, at, p.RestartPolicy,
			"must be 'NotRequired' when pod `restartPolicy` is 'Never'")...)
	}
	return errs
}
