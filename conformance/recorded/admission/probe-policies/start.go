package main

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/dynamic"
	dynfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

// settle is longer than the plugins take to notice their policies. They have no event for it.
const settle = 80 * time.Millisecond

// external is what the plugins need from outside.
type external interface {
	SetRESTMapper(meta.RESTMapper)
	SetDynamicClient(dynamic.Interface)
	SetDrainedNotification(<-chan struct{})
	SetAuthorizer(authorizer.Authorizer)
	SetExternalKubeClientSet(kubernetes.Interface)
	SetExternalKubeInformerFactory(informers.SharedInformerFactory)
	admission.InitializationValidator
}

// start starts a plugin, which runs until stop is closed, with the objects that cs has.
func start(p external, mapper meta.RESTMapper, cs *fake.Clientset, stop chan struct{}) {
	f := informers.NewSharedInformerFactory(cs, 0)
	p.SetRESTMapper(mapper)
	p.SetDynamicClient(dynfake.NewSimpleDynamicClient(scheme.Scheme))
	p.SetDrainedNotification(stop)
	p.SetAuthorizer(nobody{})
	p.SetExternalKubeClientSet(cs)
	p.SetExternalKubeInformerFactory(f)
	if err := p.ValidateInitialization(); err != nil {
		panic(err)
	}
	f.Core().V1().ConfigMaps().Informer() // for parameters
	f.Start(stop)
	f.WaitForCacheSync(stop)
	time.Sleep(settle)
}
