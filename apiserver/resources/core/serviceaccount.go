package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func serviceAccounts() *entry.Resource {
	return &entry.Resource{
		Plural: "serviceaccounts", New: entry.New[corev1.ServiceAccount], Namespaced: true,
		Storage:    entry.Storage{Governs: true}, // its deletion revokes its tokens
		ShortNames: []string{"sa"},
		Strategy: entry.Strategy{
			Metadata: entry.Metadata{Again: 1},
			Prepare:  entry.Change(nameSecrets),
			Warnings: entry.Warn(serviceAccountWarnings),
		},
		Delete: entry.Deletion{Returned: true},
		Subresources: []entry.Subresource{
			{Name: "token", Verbs: entry.Post, Action: entry.ByHook, Create: createToken,
				Kind: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}},
		},
		Table: entry.NameAndAge[*corev1.ServiceAccount](),
	}
}

// nameSecrets keeps only the name in references to secrets.
func nameSecrets(a, _ *corev1.ServiceAccount) {
	for i := range a.Secrets {
		a.Secrets[i] = corev1.ObjectReference{Name: a.Secrets[i].Name}
	}
}

const mountable = "kubernetes.io/enforce-mountable-secrets"

func serviceAccountWarnings(a, old *corev1.ServiceAccount) []string {
	_, has := a.Annotations[mountable]
	if _, had := check.ValueOf(old).Annotations[mountable]; had || !has {
		return nil
	}
	return []string{field.NewPath("metadata", "annotations").Key(mountable).String() +
		": deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
}
