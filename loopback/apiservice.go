package loopback

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/apiservice"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// APIServices is apiservice.API.
type APIServices struct {
	API   *registry.Loopback
	Cache *cache.Cache
}

const (
	apiServices   = apiregistrationv1.GroupName + "/apiservices"
	allCustom     = apiextensionsv1.GroupName + "/customresourcedefinitions"
	serviceSpecs  = "services/specs"
	endpointSlice = "endpointslices"
)

// Follow implements apiservice.API.
func (r *APIServices) Follow(ctx context.Context, begin func(stored []string), sink func(name string)) error {
	var f registrationFeed
	return feed{cache: r.Cache, first: apiServices,
		collections: []string{apiServices, allCustom, serviceSpecs, endpointSlice},
		begin: func(state iter.Seq[*storage.Object]) {
			f = registrationFeed{types: r.API.Types(), sink: sink, remote: map[string]types.NamespacedName{}}
			var stored []string
			for o := range state {
				stored = append(stored, o.Meta.Name)
				f.note(o)
			}
			begin(stored)
			for _, name := range stored {
				sink(name)
			}
			f.changed()
		},
		each: func(e *cache.Event) error {
			f.handle(e)
			return nil
		},
	}.follow(ctx)
}

// registrationFeed sends events that affect APIServices. It belongs to one goroutine.
type registrationFeed struct {
	types *resources.Types
	sink  func(name string)
	// local are the names of the server's own group versions; remote are the services that other APIServices name.
	local  map[string]bool
	remote map[string]types.NamespacedName
}

func (f *registrationFeed) handle(e *cache.Event) {
	m := &e.Object.Meta
	switch e.Collection {
	case apiServices:
		if delete(f.remote, m.Name); e.Type != cache.Deleted {
			f.note(e.Object)
		}
		f.sink(m.Name)
	case allCustom:
		f.changed() // the table of types already has the CRD
	case serviceSpecs:
		f.service(m.Namespace, m.Name)
	case endpointSlice:
		f.service(m.Namespace, m.Labels["kubernetes.io/service-name"])
	}
}

// note records the service that an APIService names.
func (f *registrationFeed) note(o *storage.Object) {
	if s := remoteOf(o); s != nil {
		f.remote[o.Meta.Name] = types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	}
}

// service sends the APIServices that name a service.
func (f *registrationFeed) service(namespace, name string) {
	for _, one := range slices.Sorted(maps.Keys(f.remote)) {
		if f.remote[one] == (types.NamespacedName{Namespace: namespace, Name: name}) {
			f.sink(one)
		}
	}
}

// changed sends the group versions that became or ceased to be local.
func (f *registrationFeed) changed() {
	now := map[string]bool{}
	for _, g := range f.types.Groups() {
		for _, v := range g.Versions {
			if gv := (schema.GroupVersion{Group: g.Name, Version: v}); registered(gv) {
				now[nameOf(gv)] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !f.local[name] {
			f.sink(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.local)) {
		if !now[name] {
			f.sink(name)
		}
	}
	f.local = now
}

// nameOf is the name of a group version's APIService.
func nameOf(gv schema.GroupVersion) string { return gv.Version + "." + gv.Group }

// registered reports whether a group version has an APIService: all except that of APIServices themselves, which
// kube-aggregator serves.
func registered(gv schema.GroupVersion) bool { return gv.Group != apiregistrationv1.GroupName }

// remoteOf is the service that a stored APIService names; nil if it names none.
func remoteOf(o *storage.Object) *apiregistrationv1.ServiceReference {
	var s struct {
		Spec struct {
			Service *apiregistrationv1.ServiceReference `json:"service"`
		} `json:"spec"`
	}
	if json.Unmarshal(o.JSON, &s) != nil {
		return nil
	}
	return s.Spec.Service
}

// Local implements apiservice.API.
func (r *APIServices) Local(name string) *apiregistrationv1.APIService {
	version, group, _ := strings.Cut(name, ".")
	gv := schema.GroupVersion{Group: group, Version: version}
	if !registered(gv) || !slices.ContainsFunc(r.API.Types().Groups(), func(g resources.Group) bool {
		return g.Name == group && slices.Contains(g.Versions, version)
	}) {
		return nil
	}
	by := apiservice.Always
	if resources.Own(gv) {
		by = apiservice.OnStart
	}
	s := &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{apiservice.Label: by}},
	}
	s.Spec.Group, s.Spec.Version = group, version
	s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = resources.Priority(gv)
	return s
}

func (r *APIServices) path(sub, name string) registry.Path {
	return registry.Path{
		Resource: r.API.Types().Lookup(apiregistrationv1.GroupName, "v1", "apiservices"), Subresource: sub, Name: name,
	}
}

// Get implements apiservice.API. The controller's own writes are in the cache when their events arrive; if one isn't
// yet, the next write conflicts.
func (r *APIServices) Get(_ context.Context, name string) (*apiregistrationv1.APIService, error) {
	o, _ := r.Cache.Get(r.API.Key(r.path("", "").Resource, "", name))
	if o == nil {
		return nil, nil
	}
	return typed[apiregistrationv1.APIService](o, o.Err)
}

// Create implements apiservice.API.
func (r *APIServices) Create(
	ctx context.Context, s *apiregistrationv1.APIService,
) (*apiregistrationv1.APIService, error) {
	return typed[apiregistrationv1.APIService](r.API.Create(ctx, r.path("", ""), s))
}

// Update implements apiservice.API.
func (r *APIServices) Update(
	ctx context.Context, s *apiregistrationv1.APIService,
) (*apiregistrationv1.APIService, error) {
	return typed[apiregistrationv1.APIService](r.API.Update(ctx, r.path("", s.Name), s))
}

// UpdateStatus implements apiservice.API.
func (r *APIServices) UpdateStatus(ctx context.Context, s *apiregistrationv1.APIService) error {
	_, err := r.API.Update(ctx, r.path("status", s.Name), s)
	return err
}

// Delete implements apiservice.API.
func (r *APIServices) Delete(ctx context.Context, name string, uid types.UID) error {
	_, err := r.API.Delete(ctx, r.path("", name), &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
