package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// bindings is the entry of Binding.
func bindings() *entry.Resource {
	return &entry.Resource{
		Plural: "bindings", New: entry.New[corev1.Binding], Namespaced: true,
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: createBinding},
	}
}
