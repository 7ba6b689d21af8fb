package validation

import (
	"context"
	"maps"
	"slices"
	"strings"

	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Definitions are judged by apiextensions-apiserver's own package, which knows them in their
// internal form. It judges metadata along with the rest; that is the caller's, but for the rules that
// a definition is named after what it defines, and that one in a group of Kubernetes' own names who
// approved it (AX pkg/apis/apiextensions/validation/validation.go:validateAPIApproval).

func definition(d *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	in, err := internalDefinition(d)
	if err != nil {
		return err
	}
	return excerptFirst(in, func(in *apiextensionsinternal.CustomResourceDefinition) field.ErrorList {
		return butMetadata(upstream.ValidateCustomResourceDefinition(context.Background(), in), true)
	})
}

func definitionUpdate(d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return judgeDefinitions(d, old, func(in, was *apiextensionsinternal.CustomResourceDefinition) field.ErrorList {
		return upstream.ValidateCustomResourceDefinitionUpdate(context.Background(), in, was)
	})
}

func definitionStatus(d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return judgeDefinitions(d, old, upstream.ValidateUpdateCustomResourceDefinitionStatus)
}

func judgeDefinitions(d, old *apiextensionsv1.CustomResourceDefinition, judge func(in, was *apiextensionsinternal.CustomResourceDefinition) field.ErrorList) field.ErrorList {
	in, errs := internalDefinition(d)
	was, more := internalDefinition(old)
	if errs = append(errs, more...); len(errs) > 0 {
		return errs
	}
	return excerptFirst(in, func(in *apiextensionsinternal.CustomResourceDefinition) field.ErrorList {
		return butMetadata(judge(in, was), false)
	})
}

func internalDefinition(d *apiextensionsv1.CustomResourceDefinition) (*apiextensionsinternal.CustomResourceDefinition, field.ErrorList) {
	in := &apiextensionsinternal.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d.DeepCopy(), in, nil); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	leaveMetadata(&in.ObjectMeta)
	return in, nil
}

// leaveMetadata drops the lists whose errors butMetadata would leave out: there may be a million.
func leaveMetadata(m *metav1.ObjectMeta) {
	m.Labels, m.OwnerReferences, m.Finalizers, m.ManagedFields = nil, nil, nil, nil
	maps.DeleteFunc(m.Annotations, func(key, _ string) bool { return key != apiextensionsv1.KubeAPIApprovedAnnotation })
}

// approval is the field that says who approved a definition.
var approval = field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation).String()

// butMetadata leaves out what is said of metadata; of a name that only doesn't fit, if asked, not.
func butMetadata(errs field.ErrorList, name bool) field.ErrorList {
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		kept := e.Field == approval || name && strings.HasPrefix(e.Detail, "must be spec.names.plural")
		return strings.HasPrefix(e.Field, "metadata") && !kept
	})
}
