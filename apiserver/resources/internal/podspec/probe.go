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

// probes validates a container's lifecycle hooks and its three probes.
func probes(c *corev1.Container, grace *int64, at *field.Path) (errs field.ErrorList) {
	if l := c.Lifecycle; l != nil {
		hook := func(h *corev1.LifecycleHandler, at *field.Path) field.ErrorList {
			return oneHandler(h.Exec, h.HTTPGet, h.TCPSocket, alternativeOf("sleep", h.Sleep,
				func(a *corev1.SleepAction, at *field.Path) field.ErrorList { return sleepAction(a, grace, at) }), at)
		}
		errs = append(errs, check.Optional(l.PostStart, at.Child("lifecycle", "postStart"), hook)...)
		errs = append(errs, check.Optional(l.PreStop, at.Child("lifecycle", "preStop"), hook)...)
	}
	errs = append(errs, check.Optional(c.LivenessProbe, at.Child("livenessProbe"), onceProbe)...)
	errs = append(errs, check.Optional(c.ReadinessProbe, at.Child("readinessProbe"), readinessProbe)...)
	return append(errs, check.Optional(c.StartupProbe, at.Child("startupProbe"), onceProbe)...)
}

// onceProbe requires a success threshold of one.
func onceProbe(p *corev1.Probe, at *field.Path) field.ErrorList {
	return append(probe(p, at),
		check.Reject(p.SuccessThreshold != 1, at.Child("successThreshold"), p.SuccessThreshold, "must be 1")...)
}

func readinessProbe(p *corev1.Probe, at *field.Path) field.ErrorList {
	return append(probe(p, at), check.Reject(p.TerminationGracePeriodSeconds != nil,
		at.Child("terminationGracePeriodSeconds"), p.TerminationGracePeriodSeconds, "must not be set for readinessProbes")...)
}

func probe(p *corev1.Probe, at *field.Path) field.ErrorList {
	errs := oneHandler(p.Exec, p.HTTPGet, p.TCPSocket, alternativeOf("grpc", p.GRPC,
		func(a *corev1.GRPCAction, at *field.Path) field.ErrorList {
			return check.PortOrName(intstr.FromInt32(a.Port), at.Child("port"))
		}), at)
	errs = append(errs, check.Natural(p.InitialDelaySeconds, at.Child("initialDelaySeconds"))...)
	errs = append(errs, check.Natural(p.TimeoutSeconds, at.Child("timeoutSeconds"))...)
	errs = append(errs, check.Natural(p.PeriodSeconds, at.Child("periodSeconds"))...)
	errs = append(errs, check.Natural(p.SuccessThreshold, at.Child("successThreshold"))...)
	errs = append(errs, check.Natural(p.FailureThreshold, at.Child("failureThreshold"))...)
	return append(errs, check.Given(p.TerminationGracePeriodSeconds, at.Child("terminationGracePeriodSeconds"),
		func(s int64, at *field.Path) field.ErrorList {
			return check.Reject(s <= 0, at, s, "must be greater than 0")
		})...)
}

// oneHandler requires exactly one action of a probe or of a lifecycle hook. other is the action that only one of these
// two supports.
func oneHandler(
	exec *corev1.ExecAction, get *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction, other alternative, at *field.Path,
) field.ErrorList {
	return exactlyOne("handler", []alternative{
		alternativeOf("exec", exec, func(a *corev1.ExecAction, at *field.Path) field.ErrorList {
			return check.Present(len(a.Command) > 0, at.Child("command"), "")
		}),
		alternativeOf("httpGet", get, httpAction),
		alternativeOf("tcpSocket", tcp, func(a *corev1.TCPSocketAction, at *field.Path) field.ErrorList {
			return check.PortOrName(a.Port, at.Child("port"))
		}),
		other,
	}, at)
}

func httpAction(a *corev1.HTTPGetAction, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "path", a.Path), check.PortOrName(a.Port, at.Child("port"))...)
	errs = append(errs, check.OneOf(a.Scheme, at.Child("scheme"),
		[]corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS})...)
	for _, h := range a.HTTPHeaders {
		errs = append(errs, check.Apply(h.Name, at.Child("httpHeaders"), utilvalidation.IsHTTPHeaderName)...)
	}
	return errs
}

// sleepAction requires a sleep that is not longer than the pod's grace period. If the grace period is missing, it
// returns no error, because another rule reports that.
func sleepAction(a *corev1.SleepAction, grace *int64, at *field.Path) field.ErrorList {
	if grace == nil {
		return nil
	}
	return check.Reject(a.Seconds < 0 || a.Seconds > *grace, at, a.Seconds,
		fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))
}
