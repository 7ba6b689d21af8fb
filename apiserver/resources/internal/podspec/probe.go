package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Not validated: lifecycle.stopSignal, whose feature gate is off.

// handler validates the action of a probe or a lifecycle hook: there must be exactly one.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func (h handler) validate(grace *int64, at *field.Path) (errs field.ErrorList) {
	found := false
	for _, action := range []struct {
		name     string
		there    bool
		validate func(at *field.Path) field.ErrorList
	}{
		{"exec", h.exec != nil, func(at *field.Path) field.ErrorList { return execAction(h.exec, at) }},
		{"httpGet", h.http != nil, func(at *field.Path) field.ErrorList { return httpAction(h.http, at) }},
		{"tcpSocket", h.tcp != nil, func(at *field.Path) field.ErrorList {
			return check.PortOrName(h.tcp.Port, at.Child("port"))
		}},
		{"grpc", h.grpc != nil, func(at *field.Path) field.ErrorList {
			return check.PortOrName(intstr.FromInt32(h.grpc.Port), at.Child("port"))
		}},
		{"sleep", h.sleep != nil, func(at *field.Path) field.ErrorList { return sleepAction(h.sleep, grace, at) }},
	} {
		switch {
		case !action.there:
		case found:
			errs = append(errs, field.Forbidden(at.Child(action.name), "may not specify more than 1 handler type"))
		default:
			found = true
			errs = append(errs, action.validate(at.Child(action.name))...)
		}
	}
	if !found {
		errs = append(errs, field.Required(at, "must specify a handler type"))
	}
	return errs
}

func execAction(a *corev1.ExecAction, at *field.Path) field.ErrorList {
	if len(a.Command) == 0 {
		return check.RequireAll(at, "command", "")
	}
	return nil
}

var schemes = []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS}

func httpAction(a *corev1.HTTPGetAction, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "path", a.Path), check.PortOrName(a.Port, at.Child("port"))...)
	errs = append(errs, check.OneOf(a.Scheme, at.Child("scheme"), schemes)...)
	for _, h := range a.HTTPHeaders {
		errs = append(errs, check.Apply(h.Name, at.Child("httpHeaders"), utilvalidation.IsHTTPHeaderName)...)
	}
	return errs
}

// sleepAction reports nothing if the pod's grace period, its limit, is missing: that is reported already.
func sleepAction(a *corev1.SleepAction, grace *int64, at *field.Path) field.ErrorList {
	if grace == nil || a.Seconds >= 0 && a.Seconds <= *grace {
		return nil
	}
	return field.ErrorList{field.Invalid(at, a.Seconds,
		fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))}
}

func lifecycle(l *corev1.Lifecycle, grace *int64, at *field.Path) (errs field.ErrorList) {
	for _, hook := range []struct {
		name string
		h    *corev1.LifecycleHandler
	}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
		if h := hook.h; h != nil {
			errs = append(errs, handler{exec: h.Exec, http: h.HTTPGet, tcp: h.TCPSocket, sleep: h.Sleep}.validate(grace,
				at.Child(hook.name))...)
		}
	}
	return errs
}

// probes validates a container's lifecycle hooks and its three probes.
func probes(c *corev1.Container, grace *int64, at *field.Path) (errs field.ErrorList) {
	if c.Lifecycle != nil {
		errs = append(errs, lifecycle(c.Lifecycle, grace, at.Child("lifecycle"))...)
	}
	errs = append(errs, onceProbe(c.LivenessProbe, grace, at.Child("livenessProbe"))...)
	ready := at.Child("readinessProbe")
	errs = append(errs, probe(c.ReadinessProbe, grace, ready)...)
	if p := c.ReadinessProbe; p != nil && p.TerminationGracePeriodSeconds != nil {
		errs = append(errs, field.Invalid(ready.Child("terminationGracePeriodSeconds"), p.TerminationGracePeriodSeconds,
			"must not be set for readinessProbes"))
	}
	return append(errs, onceProbe(c.StartupProbe, grace, at.Child("startupProbe"))...)
}

// onceProbe requires a success threshold of one.
func onceProbe(p *corev1.Probe, grace *int64, at *field.Path) field.ErrorList {
	errs := probe(p, grace, at)
	if p != nil && p.SuccessThreshold != 1 {
		errs = append(errs, field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
	}
	return errs
}

func probe(p *corev1.Probe, grace *int64, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := handler{exec: p.Exec, http: p.HTTPGet, tcp: p.TCPSocket, grpc: p.GRPC}.validate(grace, at)
	errs = append(errs, check.Natural(p.InitialDelaySeconds, at.Child("initialDelaySeconds"))...)
	errs = append(errs, check.Natural(p.TimeoutSeconds, at.Child("timeoutSeconds"))...)
	errs = append(errs, check.Natural(p.PeriodSeconds, at.Child("periodSeconds"))...)
	errs = append(errs, check.Natural(p.SuccessThreshold, at.Child("successThreshold"))...)
	errs = append(errs, check.Natural(p.FailureThreshold, at.Child("failureThreshold"))...)
	if s := p.TerminationGracePeriodSeconds; s != nil && *s <= 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *s, "must be greater than 0"))
	}
	return errs
}
