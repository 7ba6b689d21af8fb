package main

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
)

// widgets are the custom resources, widget their type as a controller has it.
var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Data              map[string]string `json:"data,omitempty"`
	Status            widgetStatus      `json:"status,omitzero"`
}

type widgetStatus struct {
	Ready bool `json:"ready,omitempty"`
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []widget `json:"items"`
}

type widgetApply struct {
	applymetav1.TypeMetaApplyConfiguration    `json:",inline"`
	*applymetav1.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`
	Data                                      map[string]string `json:"data,omitempty"`
}

// GetName is of gentype's interface.
func (w *widgetApply) GetName() *string { return w.Name }

// DeepCopyObject implements runtime.Object.
func (w *widget) DeepCopyObject() runtime.Object {
	c := &widget{TypeMeta: w.TypeMeta, Data: maps.Clone(w.Data), Status: w.Status}
	w.DeepCopyInto(&c.ObjectMeta)
	return c
}

// DeepCopyObject implements runtime.Object.
func (l *widgetList) DeepCopyObject() runtime.Object {
	c := &widgetList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: slices.Clone(l.Items)}
	for i := range c.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*widget)
	}
	return c
}

// addWidgets makes the types known.
func addWidgets(scheme *runtime.Scheme) {
	gv := widgets.GroupVersion()
	scheme.AddKnownTypeWithName(gv.WithKind("Widget"), &widget{})
	scheme.AddKnownTypeWithName(gv.WithKind("WidgetList"), &widgetList{})
	metav1.AddToGroupVersion(scheme, gv)
}

// typedWidgets are widgets, by a client as generated clientsets have it.
func typedWidgets(config *rest.Config, ns string) (*objects, error) {
	scheme := runtime.NewScheme()
	addWidgets(scheme)
	gv := widgets.GroupVersion()
	own := *config
	own.APIPath, own.GroupVersion = "/apis", &gv
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	r, err := rest.RESTClientFor(&own)
	if err != nil {
		return nil, err
	}
	c := gentype.NewClientWithListAndApply[*widget, *widgetList, *widgetApply](
		widgets.Resource, r, runtime.NewParameterCodec(scheme), ns,
		func() *widget { return &widget{} }, func() *widgetList { return &widgetList{} })
	return through(c, shape[*widget, *widgetApply]{
		func(m metav1.ObjectMeta, data map[string]string) *widget { return &widget{ObjectMeta: m, Data: data} },
		func(o *widget, data map[string]string) { o.Data = data },
		func(name string, data map[string]string) *widgetApply {
			kind, version := "Widget", gv.String()
			return &widgetApply{
				applymetav1.TypeMetaApplyConfiguration{Kind: &kind, APIVersion: &version},
				&applymetav1.ObjectMetaApplyConfiguration{Name: &name, Namespace: &ns}, data,
			}
		},
	}), nil
}
