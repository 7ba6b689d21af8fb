package fieldmanager

import (
	"fmt"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Config is the configuration of New.
type Config struct {
	// Types is the table of served resources, which also has the other versions of an object.
	Types *resources.Types
	// Custom returns the type converter of a custom resource, with the schema of its CRD. If Custom or its result is
	// nil, the resource has no schema, and its fields are deduced from values.
	Custom func(*resources.Resource) (managedfields.TypeConverter, error)
}

// Managers track the field managers of objects of all kinds.
type Managers struct {
	types  *resources.Types
	custom func(*resources.Resource) (managedfields.TypeConverter, error)
	kinds  kinds

	// mu guards the fields below. It is not held while an endpoint or a converter is built.
	mu        sync.RWMutex
	endpoints map[endpointKey]*endpoint
	// converters are the converters of CRDs by resources.Resource.State. All versions share one.
	converters map[string]*shared
	// generation is the generation of the table when endpoints and converters of removed resources were last dropped.
	generation uint64

	// customScale returns the endpoint of the scales of all custom resources.
	customScale func() (*endpoint, error)
}

// object has the methods of every API object.
type object interface {
	metav1.Object
	runtime.Object
}

// shared is the converter of a CRD. res is one version of the CRD.
type shared struct {
	res *resources.Resource
	get func() (managedfields.TypeConverter, error)
}

type endpointKey struct {
	kind schema.GroupVersionKind
	sub  string
}

// endpoint tracks the writes to a resource or subresource. It is immutable after build has returned.
type endpoint struct {
	res   *resources.Resource
	sub   string
	build func() error
	// customScale reports whether it is the endpoint of custom resources' scales.
	customScale bool

	fields *managedfields.FieldManager
	// types is the converter of the resource.
	types managedfields.TypeConverter
	// convert converts between versions. empty is an empty object of the kind.
	convert *convertor
	empty   object
}

// New returns the Managers for the resources of a table.
func New(c Config) *Managers {
	m := &Managers{
		types: c.Types, custom: c.Custom, endpoints: map[endpointKey]*endpoint{}, converters: map[string]*shared{},
	}
	m.customScale = sync.OnceValues(func() (*endpoint, error) {
		e := &endpoint{res: scaleResource, sub: "scale", customScale: true}
		return e, m.build(e)
	})
	return m
}

// endpoint returns the endpoint of a resource or subresource. The first request builds it.
func (m *Managers) endpoint(res *resources.Resource, sub string) (*endpoint, error) {
	e, err := m.tableEndpoint(res.Listed(), sub)
	if err != nil || res.Listed() == res {
		return e, err
	}
	bound := *e
	bound.res, bound.convert = res, &convertor{res: res, table: m.types}
	return &bound, m.track(&bound)
}

// tableEndpoint is endpoint for an entry of the table.
func (m *Managers) tableEndpoint(res *resources.Resource, sub string) (*endpoint, error) {
	key := endpointKey{res.GroupVersionKind(), sub}
	m.mu.RLock()
	e, current := m.endpoints[key], m.generation == m.types.Generation()
	m.mu.RUnlock()
	if !current || e == nil || e.res != res {
		e = m.insert(key, res, sub)
	}
	if err := e.build(); err != nil {
		return nil, fmt.Errorf("tracking fields of %s: %w", key.kind, err)
	}
	return e, nil
}

// insert returns an endpoint that may not be built yet. It drops the endpoints of resources that left the table.
func (m *Managers) insert(key endpointKey, res *resources.Resource, sub string) *endpoint {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g := m.types.Generation(); g != m.generation {
		m.generation = g
		gone := func(r *resources.Resource) bool { return r.Custom && m.types.Lookup(r.Group, r.Version, r.Plural) != r }
		maps.DeleteFunc(m.endpoints, func(_ endpointKey, e *endpoint) bool { return gone(e.res) })
		maps.DeleteFunc(m.converters, func(_ string, s *shared) bool { return gone(s.res) })
	}
	if e := m.endpoints[key]; e != nil && e.res == res {
		return e
	}
	e := &endpoint{res: res, sub: sub}
	e.build = sync.OnceValue(func() error { return m.build(e) })
	m.endpoints[key] = e
	return e
}

// build builds an endpoint (AS pkg/endpoints/installer.go:registerResourceHandlers, AX
// pkg/apiserver/customresource_handler.go:scopeWithFieldManager).
func (m *Managers) build(e *endpoint) error {
	types, err := m.converter(e.res)
	if err != nil {
		return err
	}
	e.types = types
	e.convert = &convertor{res: e.res, table: m.types}
	empty, ok := e.res.New().(object)
	if !ok {
		return fmt.Errorf("%s has no metadata", e.res.Kind)
	}
	e.empty = empty
	return m.track(e)
}

// track creates the field manager of an endpoint.
func (m *Managers) track(e *endpoint) (err error) {
	create := managedfields.NewDefaultFieldManager
	if e.res.Custom {
		create = managedfields.NewDefaultCRDFieldManager
	}
	// The hub is a version that no group serves. It represents the stored form of an object, which may belong to
	// another group (events).
	hub := schema.GroupVersion{Group: e.res.Group, Version: runtime.APIVersionInternal}
	var convert fieldConvertor = e.convert
	if e.customScale {
		create, convert = managedfields.NewDefaultCRDFieldManager, &scaleConvertor{e.convert}
	}
	e.fields, err = create(e.types, convert, convert, convert, e.res.GroupVersionKind(), hub, e.sub,
		resets(e.res, e.sub, m.versions(e.res)))
	return err
}

// Converter returns the type converter with which objects of a resource are merged. Its objects are unstructured.
func (m *Managers) Converter(res *resources.Resource) (managedfields.TypeConverter, error) {
	if !res.Custom {
		return &whole{converter{kinds: &m.kinds, table: m.types, core: res.Group == ""}}, nil
	}
	e, err := m.endpoint(res, "")
	if err != nil {
		return nil, err
	}
	return e.types, nil
}

func (m *Managers) converter(res *resources.Resource) (managedfields.TypeConverter, error) {
	if !res.Custom {
		return &converter{kinds: &m.kinds, table: m.types, core: res.Group == ""}, nil
	}
	res = res.Listed()
	if res.State == "" {
		return m.newConverter(res)
	}
	m.mu.Lock()
	s := m.converters[res.State]
	if s == nil {
		s = &shared{res, sync.OnceValues(func() (managedfields.TypeConverter, error) { return m.newConverter(res) })}
		m.converters[res.State] = s
	}
	m.mu.Unlock()
	return s.get()
}

func (m *Managers) newConverter(res *resources.Resource) (managedfields.TypeConverter, error) {
	if m.custom != nil {
		if c, err := m.custom(res); c != nil || err != nil {
			return c, err
		}
	}
	return managedfields.NewDeducedTypeConverter(), nil
}

// versions returns the entries of all versions of a resource.
func (m *Managers) versions(res *resources.Resource) []*resources.Resource {
	res = res.Listed()
	all := []*resources.Resource{res}
	for _, r := range m.types.All() {
		if r != res && r.Collection == res.Collection && r.Collection != "" {
			all = append(all, r)
		}
	}
	return append(all, res.Unserved...)
}
