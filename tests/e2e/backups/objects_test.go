package backups

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// scheme has all types of this release of k8s.io/api and of the two groups that have modules of their own.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme,
		apiextensionsv1beta1.AddToScheme, apiregistrationv1.AddToScheme, apiregistrationv1beta1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

type object struct {
	gvk      schema.GroupVersionKind
	resource *resources.Resource
	encoding string
	name     string
	value
	// want is the object in JSON, as upstream reads it.
	want map[string]any
}

// formerly maps kinds in earlier groups to the groups that have these kinds now.
var formerly = map[schema.GroupKind]string{
	{Group: "extensions", Kind: "Deployment"}: "apps", {Group: "extensions", Kind: "DaemonSet"}: "apps",
	{Group: "extensions", Kind: "ReplicaSet"}: "apps", {Group: "extensions", Kind: "Ingress"}: "networking.k8s.io",
	{Group: "extensions", Kind: "NetworkPolicy"}: "networking.k8s.io",
}

// stored returns objects of all kinds that the server stores, in every version that the scheme has, in three encodings.
func stored(t *testing.T) (all []*object) {
	t.Helper()
	kinds := servedKinds()
	for _, gvk := range known() {
		gk := gvk.GroupKind()
		if group := formerly[gk]; group != "" {
			gk.Group = group
		}
		if r := kinds[gk]; r != nil {
			all = append(all, objectsOf(t, gvk, r)...)
		}
	}
	if len(all) < 350 {
		t.Errorf("%d objects were made", len(all))
	}
	return all
}

// servedKinds returns the stored kinds of the server.
func servedKinds() map[schema.GroupKind]*resources.Resource {
	kinds := map[schema.GroupKind]*resources.Resource{}
	for _, r := range resources.Builtin() {
		if gk := r.GroupVersionKind().GroupKind(); r.Collection != "" && kinds[gk] == nil {
			kinds[gk] = r
		}
	}
	return kinds
}

// known returns the kinds of the scheme.
func known() []schema.GroupVersionKind {
	all := slices.SortedFunc(maps.Keys(scheme.AllKnownTypes()), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	})
	return slices.DeleteFunc(all, func(gvk schema.GroupVersionKind) bool {
		return gvk.Version == runtime.APIVersionInternal
	})
}

// virtual are kinds of objects that kube-apiserver does not store, besides lists and options.
var virtual = "Binding ComponentStatus DeploymentRollback Eviction LocalSubjectAccessReview PodStatusResult " +
	"RangeAllocation Scale SelfSubjectAccessReview SelfSubjectReview SelfSubjectRulesReview SubjectAccessReview " +
	"TokenRequest TokenReview"

// unserved returns the kinds that kube-apiserver stores and the server does not.
func unserved() (all []schema.GroupVersionKind) {
	kinds := servedKinds()
	for _, gvk := range known() {
		obj, err := scheme.New(gvk)
		if err != nil {
			panic(err)
		}
		_, isObject := obj.(metav1.Object)
		gk := gvk.GroupKind()
		if isObject && kinds[gk] == nil && formerly[gk] == "" && !slices.Contains(strings.Fields(virtual), gvk.Kind) {
			all = append(all, gvk)
		}
	}
	return all
}

// objectsOf returns an object's values in all encodings.
func objectsOf(t *testing.T, gvk schema.GroupVersionKind, r *resources.Resource) (all []*object) {
	t.Helper()
	serializers := map[string]runtime.Encoder{
		"protobuf": protobuf.NewSerializer(scheme, scheme), "cbor": cbor.NewSerializer(scheme, scheme),
		"json": kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{}),
	}
	for encoding, s := range serializers {
		o := &object{gvk: gvk, resource: r, encoding: encoding}
		o.name = strings.ReplaceAll(gvk.Version+"-"+gvk.Group, ".", "-") + "-" + encoding
		o.key = "/registry/" + r.Collection + "/"
		obj := filled(t, gvk)
		obj.(metav1.Object).SetName(o.name)
		if r.Namespaced {
			obj.(metav1.Object).SetNamespace("default")
			o.key += "default/"
		}
		o.key += o.name
		var b bytes.Buffer
		if err := s.Encode(obj, &b); err != nil {
			t.Fatalf("%s: %v", gvk, err)
		}
		o.value.value = b.Bytes()
		o.want = members(t, obj)
		all = append(all, o)
	}
	return all
}

// filled returns an object with random fields, as upstream reads it from protobuf: without empty slices and maps.
func filled(t *testing.T, gvk schema.GroupVersionKind) runtime.Object {
	t.Helper()
	obj, err := scheme.New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64()
	fmt.Fprint(h, gvk)
	objecttest.Fill(int64(h.Sum64()), obj)
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	m := obj.(metav1.Object)
	m.SetName("a")
	m.SetNamespace("")
	m.SetResourceVersion("")
	m.SetSelfLink("")
	m.SetManagedFields(nil)
	var b bytes.Buffer
	s := protobuf.NewSerializer(scheme, scheme)
	if err := s.Encode(obj, &b); err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	read, _, err := s.Decode(b.Bytes(), nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	read.GetObjectKind().SetGroupVersionKind(gvk)
	return read
}

// members returns the members of an object's JSON.
func members(t *testing.T, obj any) (m map[string]any) {
	t.Helper()
	data, err := json.Marshal(obj)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}
