package validation

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources/kindtest"
)

// all are the built-in kinds.
var all = kindtest.All(time.Now)

// kinds are the kinds that have validation.
var kinds = func() (list []kindtest.Kind) {
	for _, k := range all {
		if k.Validation.Whole != nil && (k.GVK.Kind != "HorizontalPodAutoscaler" || k.GVK.Version == "v2") {
			list = append(list, k)
		}
	}
	return list
}()

// kindOf returns the kind with a group and a name. If there is none, it returns a Kind without hooks.
func kindOf(gk schema.GroupKind) kindtest.Kind {
	for _, k := range kinds {
		if k.GVK.GroupKind() == gk {
			return k
		}
	}
	return kindtest.Kind{}
}

// validationOf returns a kind's hooks that validate.
func validationOf(gk schema.GroupKind) kindtest.Validation { return kindOf(gk).Validation }
