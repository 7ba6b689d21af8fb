package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// services is the entry of Service.
func services() *entry.Resource {
	return &entry.Resource{
		Plural: "services", New: entry.New[corev1.Service], Namespaced: true,
		ShortNames: []string{"svc"}, Categories: entry.All,
		Storage: entry.Storage{Collection: "services/specs"},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,
			Name:           apivalidation.NameIsDNSLabel,
			Default:        entry.Default(DefaultService),
			PrepareCreate:  entry.Create(createService),
			PrepareUpdate:  entry.Change(updateService),
			Validate:       entry.Validate(validateServiceCreate),
			ValidateUpdate: entry.ValidateChange(validateServiceUpdate),
			Warnings:       entry.Warn(serviceWarnings),
		},
		Delete: entry.Deletion{Returned: true},
		Hooks:  entry.Hooks{Begin: beginService},
		Subresources: []entry.Subresource{
			{
				Name: "proxy", Verbs: entry.Tunnel, Action: entry.Unserved,
				Kind: corev1.SchemeGroupVersion.WithKind("ServiceProxyOptions"),
			},
			entry.StatusWith(entry.Subresource{
				ValidateUpdate: entry.ValidateChange(validateServiceStatus),
				Warnings:       entry.Warn(serviceStatusWarnings),
			}),
		},
		Selection: entry.Selection{
			Selectable: []entry.Field{{Label: "spec.clusterIP"}, {Label: "spec.type", Unset: "ClusterIP"}},
		},
		Table: entry.TableOf(serviceColumns(), serviceCells),
	}
}
