package controllers

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// typeCheck is Process.CheckTypes.
type typeCheck = func(p *admissionv1.ValidatingAdmissionPolicy) []admissionv1.ExpressionWarning

// policyStatus checks the types in the expressions of ValidatingAdmissionPolicies, and reports the warnings in their
// status (K pkg/controller/validatingadmissionpolicystatus). A policy whose generation is greater than its
// status.observedGeneration is checked once, by the types that are served at that time. It is not checked again when a
// CustomResourceDefinition is created later (M-52, M-55). The status is that of the generation that was checked: if the
// policy changes during the check, the status is not written. The effect of a policy never depends on it (M-54).
//
// One policy is checked at a time, as the schemas of its kinds may be large. (Upstream has five workers.)
func policyStatus(check typeCheck) workload.Controller {
	return workload.Controller{
		Name: "validatingadmissionpolicy-status", For: workload.Policies,
		Task: "check the types of a validating admission policy",
		Decide: workload.Present(func(
			_ workload.View, p *admissionv1.ValidatingAdmissionPolicy, _ time.Time,
		) (plan workload.Plan) {
			if p.Generation > p.Status.ObservedGeneration {
				plan.Slow = func(context.Context) workload.Plan { return checkPolicy(p, check) }
			}
			return plan
		}),
	}
}

// checkPolicy checks a policy (K controller.go: reconcile). A panic of the type checker becomes an error, as users
// write the expressions.
func checkPolicy(p *admissionv1.ValidatingAdmissionPolicy, check typeCheck) (plan workload.Plan) {
	defer func() {
		if r := recover(); r != nil {
			plan = workload.Plan{Err: fmt.Errorf("checking the types of %s panicked: %v", p.Name, r)}
		}
	}()
	warnings := check(p)
	next := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, ResourceVersion: p.ResourceVersion},
	}
	next.Status.ObservedGeneration = p.Generation
	next.Status.TypeChecking = &admissionv1.TypeChecking{ExpressionWarnings: warnings}
	return workload.Plan{Do: []workload.Action{workload.ApplyStatus{Object: next}}}
}
