package validation

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

func runtimeClass(c *nodev1.RuntimeClass) field.ErrorList {
	errs := judge(c.Handler, field.NewPath("handler"), whole(apivalidation.NameIsDNSLabel))
	if c.Overhead != nil {
		limits := &corev1.ResourceRequirements{Limits: c.Overhead.PodFixed}
		errs = append(errs, (&podRules{}).resources(limits, containerResourceName, field.NewPath("overhead"))...)
	}
	if c.Scheduling != nil {
		at := field.NewPath("scheduling")
		errs = append(errs, invalid.Labels(c.Scheduling.NodeSelector, at.Child("nodeSelector"))...)
		errs = append(errs, tolerations(c.Scheduling.Tolerations, at.Child("tolerations"))...)
	}
	return errs
}

func runtimeClassUpdate(c, old *nodev1.RuntimeClass) field.ErrorList {
	return append(runtimeClass(c), immutable(c.Handler, old.Handler, field.NewPath("handler"))...)
}
