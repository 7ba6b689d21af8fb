package controllers

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// fixture keeps an object in every active namespace: a missing one is created, and a change that contradicts it is
// reverted. Fields that the fixture doesn't set are kept. An object that can't be decoded is not changed, which is an
// error. In a namespace that is being deleted nothing is created.
type fixture struct {
	controller, name string
	resource         workload.Resource
	// made returns the object as it is created.
	made func(metav1.ObjectMeta) workload.Object
	// corrected returns a copy of the object without contradictions; nil if there are none.
	corrected func(have workload.Object) workload.Object
}

// defaultAccounts keeps the service account of pods that name none (K pkg/controller/serviceaccount:
// ServiceAccountsController). Users own its content.
func defaultAccounts() workload.Controller {
	return fixture{
		controller: "serviceaccount", name: "default", resource: workload.ServiceAccounts,
		made:      func(m metav1.ObjectMeta) workload.Object { return &corev1.ServiceAccount{ObjectMeta: m} },
		corrected: func(workload.Object) workload.Object { return nil },
	}.keeper()
}

const (
	certificateFile = "ca.crt"
	// description is the annotation with an object's purpose.
	description        = "kubernetes.io/description"
	certificatePurpose = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal " +
		"endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

// rootCertificates keeps the ConfigMap with the certificates, in PEM, by which pods verify the server (K
// pkg/controller/certificates/rootcacertpublisher). A description that a user has set is kept; an empty one isn't.
func rootCertificates(authority string) workload.Controller {
	data := map[string]string{certificateFile: authority}
	return fixture{
		controller: "root-ca-cert-publisher", name: "kube-root-ca.crt", resource: workload.ConfigMaps,
		made: func(m metav1.ObjectMeta) workload.Object {
			m.Annotations = map[string]string{description: certificatePurpose}
			return &corev1.ConfigMap{ObjectMeta: m, Data: maps.Clone(data)}
		},
		corrected: func(have workload.Object) workload.Object {
			m := have.(*corev1.ConfigMap)
			if maps.Equal(m.Data, data) && m.Annotations[description] != "" {
				return nil
			}
			m = m.DeepCopy()
			m.Data = maps.Clone(data)
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, description, certificatePurpose)
			return m
		},
	}.keeper()
}

func (f fixture) keeper() workload.Controller {
	return workload.Controller{
		Name: f.controller, For: workload.Namespaces, Quiet: true, Sees: []workload.Resource{f.resource},
		Decide: f.decide, Task: "create the default objects of a namespace", Most: time.Minute,
		Wake: func(_ workload.Reader, c workload.Change) []workload.Key {
			switch {
			case c.Resource == workload.Namespaces && c.New != nil && !c.New.Deleting && (c.Old == nil ||
				c.Old.UID != c.New.UID):
				return []workload.Key{c.New.Key}
			case c.Resource == f.resource && c.Old != nil && c.Old.Name == f.name:
				return []workload.Key{{Name: c.Old.Namespace}}
			}
			return nil
		},
	}
}

func (f fixture) decide(v workload.View, _ time.Time) workload.Plan {
	if v.Object == nil || dying(v.Object) {
		return workload.Plan{}
	}
	have := v.Get(f.resource, v.Key.Name, f.name)
	if have == nil {
		if err := v.Err(f.resource, v.Key.Name, f.name); err != nil {
			return workload.Plan{Err: err}
		}
		o := f.made(metav1.ObjectMeta{Namespace: v.Key.Name, Name: f.name})
		return workload.Plan{Do: []workload.Action{workload.Create{Object: o}}}
	}
	if next := f.corrected(have); next != nil {
		return workload.Plan{Do: []workload.Action{workload.Update{Object: next}}}
	}
	return workload.Plan{}
}
