package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// kind is a type of objects with data, as ConfigMaps have.
type kind struct {
	group, name, plural string
	// formats are the media types that client-go can request, without the additional ones for errors in JSON.
	formats []string
}

var (
	configMaps = kind{"", "ConfigMap", "configmaps", []string{asProtobuf, asJSON}}
	// widgets are custom resources.
	widgets = kind{"example.com", "Widget", "widgets", []string{asJSON}}
)

// String returns the name of the kind in the table.
func (k kind) String() string {
	if k.group == "" {
		return k.name
	}
	return "custom resource"
}

func (k kind) version() schema.GroupVersion {
	return schema.GroupVersion{Group: k.group, Version: "v1"}
}

func (k kind) root() string {
	if k.group == "" {
		return "/api"
	}
	return "/apis"
}

func (k kind) path(namespace string) string {
	return k.root() + "/" + k.version().String() + "/namespaces/" + namespace + "/" + k.plural
}

// object returns an object with a value for a key of its data.
func (k kind) object(name, key, value string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"labels":{"app":"a%c"}},"data":{%q:%q}}`,
		k.version(), k.name, name, name[len(name)-1], key, value)
}

// client returns a typed client of client-go with its defaults, except for the format. Clients of a server share a
// connection, unless apart is set.
//
// The client also decodes custom resources into ConfigMaps, because both have the same fields.
func (k kind) client(s *server, format string, apart bool) (*rest.RESTClient, error) {
	types, version := runtime.NewScheme(), k.version()
	types.AddKnownTypeWithName(version.WithKind(k.name), &corev1.ConfigMap{})
	types.AddKnownTypeWithName(version.WithKind(k.name+"List"), &corev1.ConfigMapList{})
	metav1.AddToGroupVersion(types, version)
	c := rest.CopyConfig(s.config)
	c.APIPath, c.GroupVersion = k.root(), &version
	c.NegotiatedSerializer = serializer.NewCodecFactory(types).WithoutConversion()
	c.ContentType, c.AcceptContentTypes = format, format+","+asJSON
	if apart {
		c.Dial = (&net.Dialer{}).DialContext // client-go shares connections between equal configurations
	}
	return rest.RESTClientFor(c)
}

// fill creates n objects, each with a random value of a size.
func (k kind) fill(ctx context.Context, c *client, namespace string, n, size int) error {
	_, err := inParallel(ctx, 32, n, func(ctx context.Context, i int) error {
		return c.create(ctx, k, namespace, objectName(i), "k", random(i, size))
	})
	return err
}

// oneKiB is the size of a value with which the JSON of a ConfigMap has 1 KiB.
const oneKiB = 560

func objectName(i int) string { return fmt.Sprintf("%06d", i) }

// random returns a text of a given size that compresses as base64 does. The same number gives the same text.
func random(number, size int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	from, text := rand.NewPCG(uint64(number), 0), make([]byte, size)
	for i := range text {
		text[i] = letters[from.Uint64()%64]
	}
	return string(text)
}

// define creates the CustomResourceDefinition of widgets, and waits until they are served.
func define(ctx context.Context, r *run) error {
	const text = `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"data":{"type":"object","additionalProperties":{"type":"string"}}}}}}]}}`
	c := r.server.admin
	if err := c.send(ctx, request{method: "POST", path: definitions, body: text}); err != nil {
		return err
	}
	for {
		err := c.send(ctx, request{method: "GET", path: widgets.path("default")})
		var f *failure
		if err == nil || !errors.As(err, &f) || f.code != http.StatusNotFound && f.code != http.StatusTooManyRequests {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond): // no event reports that a type is served
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
