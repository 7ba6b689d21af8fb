package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	systemPrefix    = "system-"
	highestPriority = int32(1000000000)
)

// systemPriorities are the two classes that every cluster has (scheduling/v1 SystemPriorityClasses).
var systemPriorities = map[string]int32{"system-node-critical": 2*highestPriority + 1000, "system-cluster-critical": 2 * highestPriority}

var preemptionPolicies = []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}

func priorityClass(c *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if strings.HasPrefix(c.Name, systemPrefix) {
		if why := notSystem(c); why != "" {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
				"priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+why))
		}
	} else if c.Value > highestPriority {
		errs = append(errs, field.Forbidden(field.NewPath("value"),
			fmt.Sprintf("maximum allowed value of a user defined priority is %v", highestPriority)))
	}
	if c.PreemptionPolicy != nil {
		errs = append(errs, required(*c.PreemptionPolicy, field.NewPath("preemptionPolicy"), preemptionPolicies)...)
	}
	return errs
}

// notSystem says why a class isn't one of the system's, or nothing.
func notSystem(c *schedulingv1.PriorityClass) string {
	value, known := systemPriorities[c.Name]
	switch {
	case !known:
		return fmt.Sprintf("%v is not a known system priority class", c.Name)
	case c.Value != value:
		return fmt.Sprintf("value of %v PriorityClass must be %v", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %v PriorityClass must be %v", c.Name, false)
	}
	return ""
}

func priorityClassUpdate(c, old *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if c.Value != old.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, immutable(c.PreemptionPolicy, old.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
}
