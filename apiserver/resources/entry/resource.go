package entry

import (
	"context"
	"slices"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
)

// ConversionError reports that the conversion strategy of a CustomResourceDefinition failed: a stored object can't be
// returned in the requested version, or a new one can't be stored. The client receives its message.
type ConversionError struct {
	Err error
	// Ended is the reason why the request ended before its conversion, or nil. If it is set, the client receives it
	// instead.
	Ended error
}

// Error returns the message of the strategy's error. The error is not unwrapped, because a webhook's status is not a
// status of this server.
func (e *ConversionError) Error() string { return e.Err.Error() }

// Resource is an entry of the table. It has all properties of a served group-version-resource on which handlers depend.
// An entry is immutable once it is in a table. A change of a CustomResourceDefinition makes a new entry.
type Resource struct {
	// Plural is the name in paths ("pods"). kubectl also accepts Singular and ShortNames.
	Plural     string
	ShortNames []string
	Categories []string
	Namespaced bool
	Served
	Storage
	CustomResource
	// New returns an empty object of the served version.
	New          func() runtime.Object
	Strategy     Strategy
	Subresources []Subresource
	Delete       Deletion
	Selection
	// Table prints objects. If Columns is nil, the columns are Name and Created At, or Name and Age by default.
	Table Table
	// Hooks have the behaviour that is specific to the kind.
	Hooks Hooks
}

// Served describes the version that clients request. Group and other functions complete it for built-in kinds.
type Served struct {
	// Group is empty for the core group.
	Group, Version string
	Kind, Singular string
	// ListKind is the kind of lists; empty means Kind with the suffix "List".
	ListKind string
	// Verbs are in the order of discovery.
	Verbs []string
	// Optional are the versions that are served only on request (--runtime-config). Their entries are derived from this
	// one.
	Optional []Version
	// Off reports whether this version is not served to clients: it is optional and --runtime-config does not enable it,
	// or --runtime-config disables it. The server still uses it internally.
	Off bool
	// Deprecated is the warning for requests of this version, or empty.
	Deprecated string
}

// Storage describes how objects are stored.
type Storage struct {
	// Collection is the part of the etcd key for the resource (storage.Collection): "pods", "services/specs",
	// "stable.example.com/crontabs". Empty for a resource that is not stored.
	Collection string
	// Virtual reports whether the resource is not stored, so the Hooks make its responses.
	Virtual bool
	// Stored is the kind of stored objects. It is the kind in etcd unless Written is set. The versions of a resource
	// share it.
	Stored schema.GroupVersionKind
	// ToStored and FromStored convert between this version and the stored one; nil if they are the same kind. They do
	// not change their argument. If it already has the target version, they return it. Otherwise the result shares no
	// memory with it.
	//
	// An error of the conversion strategy of a CustomResourceDefinition is a ConversionError.
	ToStored, FromStored func(runtime.Object) (runtime.Object, error)
	// Written, if set, is the version in etcd. Objects are converted when they are written to etcd and when they arrive
	// from it. They have the version Stored everywhere else.
	Written *Written
	// Coerce, of custom resources, converts a decoded body to the form that its schema requires. It removes unknown
	// fields and returns their paths. Coerce of built-in kinds has the effect of upstream's conversion to the internal
	// type and back; it is set only if that conversion can fail.
	Coerce func(obj runtime.Object) (unknown []string, err error)
	// Verified marks cached objects whose bytes can be sent unchanged to clients of this entry.
	Verified *storage.Verification
	// Governs reports whether objects affect how other requests are served (CustomResourceDefinitions, webhook
	// configurations, policies, roles and their bindings, service accounts). A write of such an object returns when it
	// is in effect for the next request.
	Governs bool
	// Expires reports whether stored objects (events) are removed after a time that is an option of the server.
	Expires bool
}

// CustomResource has the properties of custom resources. It is zero for built-in kinds.
type CustomResource struct {
	// Custom reports whether the entry is that of a custom resource: its objects are unstructured and have their JSON
	// members in alphabetical order.
	Custom bool
	// Serve converts objects of any version to this one. It converts all of them together. It may change its arguments
	// and return them. Its errors are those of FromStored.
	Serve func([]runtime.Object) ([]runtime.Object, error)
	// Convert converts an object of any version to any version, served or not, by the conversion strategy of the
	// CustomResourceDefinition. Fields that are unknown to the version's schema stay. It does not change its argument.
	// Its errors are those of FromStored.
	Convert func(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error)
	// Bind, if a webhook converts, returns a copy of the entry for one request. Its conversions end with ctx. Those of
	// the entry itself end only by the timeout of webhooks.
	Bind func(ctx context.Context) *Resource
	// bound is the entry from which this one was copied; nil for entries in the table.
	bound *Resource
	// Restore converts a stored object as Coerce converts a body, and sets defaults. It applies the schema of the
	// version in which the object was stored, because that schema may have changed since. The object keeps its version.
	Restore func(obj runtime.Object) error
	// OpenAPI returns the schema for documents of OpenAPI v3 or v2, or nil if objects may have any fields.
	OpenAPI func(v2 bool) (*spec.Schema, error)
	// Unserved are entries for the versions of the CustomResourceDefinition that are not served: managedFields may
	// contain them.
	Unserved []*Resource
	// Origin is the UID of the CustomResourceDefinition. A CustomResourceDefinition with the same name and another UID
	// defines another resource.
	Origin string
	// State identifies the state of the CustomResourceDefinition. The served form of a stored object depends only on
	// the object and this state. Empty means unknown.
	State string
}

// Selection has the fields that field selectors support.
type Selection struct {
	// Selectable are the fields of built-in kinds, besides metadata.name and metadata.namespace. Fields and FieldNames
	// are derived from them.
	Selectable []Field
	// Fields are the paths of the selectable fields, besides metadata.name and metadata.namespace, in the stored JSON;
	// for custom resources, in the JSON of this version. FieldNames are their labels in this version, in the same
	// order.
	FieldNames []string
	Fields     []storage.FieldPath
	// FieldError is the message for an unknown field label. It has one verb (%s, %q) for the label. Empty means "field
	// label not supported: %s" for kinds with FieldNames, and H-41's message for others.
	FieldError string
	// FieldAliases maps further labels to those of FieldNames (spec.host to spec.nodeName).
	FieldAliases map[string]string
}

// Written is a version that clients can't request, but that is written to etcd.
type Written struct {
	Kind schema.GroupVersionKind
	// To converts an object from the version Stored, without changing the object. From converts to the version Stored.
	To, From func(runtime.Object) (runtime.Object, error)
}

// Deletion describes how objects of a kind are deleted.
type Deletion struct {
	Policy finalizers.Policy
	// Returned reports whether the response to a removal is the object instead of a Status (C-62).
	Returned bool
	// Kind, if set, completes finalizers.Kind from an object: grace periods, namespaces (C-30, C-80).
	Kind func(obj runtime.Object) finalizers.Kind
	// Cleanup is Cleanup of finalizers.Kind (C-84).
	Cleanup string
	// Mark, if set, is called on the object that the first DELETE stores. It sets the fields of a terminating object (a
	// namespace's phase, a CustomResourceDefinition's condition).
	Mark func(obj runtime.Object)
	// Begin, if set, sets a status in a separate write after Mark's. A client that reads the object after the response
	// to the DELETE receives this status (a CustomResourceDefinition's condition, F-10). Begin does not change an
	// object in a later state.
	Begin func(obj runtime.Object)
	// Warning, if set, is the warning for a DELETE without a policy (C-24).
	Warning string
	// SpecFinalizers, if set, returns the finalizers in the kind's spec (namespaces, E-01).
	SpecFinalizers func(obj runtime.Object) []string
	// Reject, if set, returns the reason why an object can't be deleted (C-67), or an empty string.
	Reject func(name string) string
}

// OrphanDependents is the Policy of kinds whose dependents are orphaned by default (C-23).
const OrphanDependents = finalizers.OrphanDependents

// For returns the properties of obj's kind on which the decision on a DELETE of obj depends.
func (d *Deletion) For(obj runtime.Object) finalizers.Kind {
	var k finalizers.Kind
	if d.Kind != nil {
		k = d.Kind(obj)
	}
	k.Policy, k.Cleanup = d.Policy, d.Cleanup
	return k
}

// Generation is the rule for the changes that increment metadata.generation (B-30 to B-36).
type Generation uint8

// The rules.
const (
	NoGeneration          Generation = iota
	SpecGeneration                   // 1 at create, +1 when spec changes
	SpecOrAnnotations                // deployments (B-31)
	AnyButMetaOrLabels               // endpointslices (B-33)
	TemplateGeneration               // podtemplates: the template
	CreateOnlyGeneration             // 1 at create and never incremented (priorityclasses)
	UpdateOnlyGeneration             // csidrivers: incremented on changes of spec, not set at create
	CustomGeneration                 // custom resources with a status subresource: all but metadata and status (B-34)
	CustomWholeGeneration            // custom resources without: all but metadata
	RootGeneration                   // kinds without a spec (webhook configurations): all but metadata
)

// Strategy has the differences between kinds in writes. Every func may be nil. The funcs accept objects of the served
// version and of the stored version.
type Strategy struct {
	Generation Generation
	// CreateOnUpdate allows a PUT to create the object (B-03). Conditional rejects an empty resourceVersion (B-06).
	CreateOnUpdate, Conditional bool
	// Name validates metadata.name; nil means a DNS subdomain.
	Name func(name string, prefix bool) []string
	// Metadata are the kind's own rules for metadata.
	Metadata Metadata

	// Default sets missing fields each time an object of a client, or a stored object, is decoded. An entry declares it
	// for the served version, and declares DefaultStored if the stored version has other defaults. Default in the table
	// accepts objects of both versions.
	Default, DefaultStored func(obj runtime.Object)
	// Prepare sets the fields that clients can't set; old is nil on create. Before that, the caller empties or restores
	// the status. After that, it sets the generation.
	Prepare func(obj, old runtime.Object)
	// Validate validates everything except metadata; old is nil on create.
	Validate func(obj, old runtime.Object) field.ErrorList
	// Requester, if set, records the requesting user in a new object, after Prepare (certificate signing requests).
	Requester func(obj runtime.Object, name, uid string, groups []string, extra map[string][]string)
	// OwnStatus reports whether Prepare processes the status. Then the caller does not change the status before it
	// calls Prepare (nodes, pods, servicecidrs).
	OwnStatus bool
	// EarlyWarnings returns warnings that depend on fields which Prepare removes. It is called before Prepare.
	EarlyWarnings func(obj runtime.Object) []string
	// Warnings returns the messages of Warning headers; old is nil on create. It is called after Prepare.
	Warnings func(obj, old runtime.Object) []string
}

// Metadata has the rules for metadata that differ between kinds.
type Metadata struct {
	// NameOf, if set, replaces Strategy.Name for names whose rule depends on other fields (clustertrustbundles).
	NameOf func(obj runtime.Object) apivalidation.ValidateNameFunc
	// Custom reports whether finalizers need no prefix.
	Custom bool
	// Plain kinds do not validate metadata themselves. Only the general rules apply, and to a new object only if there
	// are no other errors.
	Plain bool
	// Again is the number of times that the kind's own rules for an update validate all metadata. The general rules of
	// every kind validate it before, so an error occurs Again more times (0-06; K pkg/apis/core/validation,
	// rbac/validation: Validate...Update, and the strategies' ValidateUpdate).
	Again int
}

// Action is the type of a subresource.
type Action uint8

// The actions.
const (
	// Status changes the object's status and keeps its spec.
	Status Action = iota
	// Part is an update of the whole object in which PrepareUpdate restores the fields that may not change
	// (namespaces/finalize, pods/ephemeralcontainers, certificatesigningrequests/approval).
	Part
	// Scale reads and writes the number of replicas at ScalePaths.
	Scale
	// ByHook is a POST that the subresource's hook Create handles.
	ByHook
	// Proxied forwards requests of any method, with the rest of the path. Upgraded forwards a connection that the
	// client upgrades (SPDY, WebSockets). Logged forwards a GET whose response is a log.
	Proxied
	Upgraded
	Logged
)

// Connects reports whether the subresource's hook Connect returns the target of requests.
func (a Action) Connects() bool { return a >= Proxied }

// Subresource is one subresource of a kind.
type Subresource struct {
	// Name is the name in the path ("status"), Verbs are the verbs in discovery.
	Name   string
	Verbs  []string
	Action Action
	// Kind is the kind of bodies, or of the parameters of a connection; empty means the resource's own kind. Options is
	// the kind of the parameters if it differs from Kind.
	Kind, Options schema.GroupVersionKind
	// PrepareUpdate restores the fields that this subresource may not change. ValidateUpdate validates the others.
	PrepareUpdate  func(obj, old runtime.Object)
	ValidateUpdate func(obj, old runtime.Object) field.ErrorList
	// Permit, if set, is called after a validation without errors. It returns the error for a user who lacks a
	// permission that the change needs (podcertificaterequests/status).
	Permit func(obj, old runtime.Object, user string, may May) field.ErrorList
	// Warnings returns the messages of Warning headers for a write of this subresource.
	Warnings func(obj, old runtime.Object) []string
	// ScalePaths are the paths of replicas, status replicas and the selector, for Action Scale.
	ScalePaths ScalePaths
	// Absent, for Action Scale, is the resource in the error 404 of a GET; zero means that of the object.
	Absent schema.GroupResource
	// Create handles POST, for Action ByHook.
	Create HandlePost
	// Connect returns the target of requests, for the actions that connect.
	Connect Connect
}

// May reports whether the requesting user may apply a verb to a named, cluster-scoped resource of any version.
type May func(group, resource, verb, name string) bool

// ScalePaths are JSON paths, separated by dots. The value at Selector is a string, a LabelSelector (deployments) or a
// map of labels (replicationcontrollers).
type ScalePaths struct{ Replicas, StatusReplicas, Selector string }

// Table prints objects of a kind for kubectl get.
type Table struct {
	Columns []Column
	// Cells returns one value for each column, of the types of JSON. Ages are those at now. Cells accepts an object of
	// the served or of the stored version.
	Cells func(obj runtime.Object, now time.Time) []any
	// Conditions, if set, returns the conditions of a row (a completed pod).
	Conditions func(obj runtime.Object) []metav1.TableRowCondition
	// Compare, if set, orders the rows of a list: negative if a comes before b.
	Compare func(a, b runtime.Object) int
	// Default, if set, returns the index of the object in a list that is the effective default, or -1. In a list, the
	// first cell of this object ends with (default); in the table of a single object it does not.
	Default func(all []runtime.Object) int
}

// Seen returns the table for objects that must be converted with see before they are printed.
func (t Table) Seen(see func(runtime.Object) runtime.Object) Table {
	out := t
	out.Cells = func(obj runtime.Object, now time.Time) []any { return t.Cells(see(obj), now) }
	if t.Conditions != nil {
		out.Conditions = func(obj runtime.Object) []metav1.TableRowCondition { return t.Conditions(see(obj)) }
	}
	if t.Compare != nil {
		out.Compare = func(a, b runtime.Object) int { return t.Compare(see(a), see(b)) }
	}
	if t.Default != nil {
		out.Default = func(all []runtime.Object) int {
			seen := make([]runtime.Object, len(all))
			for i, obj := range all {
				seen[i] = see(obj)
			}
			return t.Default(seen)
		}
	}
	return out
}

// Column is a column. Columns of Priority 1 are printed with -o wide.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int32
}

// GroupVersion returns "v1" or "apps/v1".
func (r *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupVersionKind returns the kind of the served version.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.Kind)
}

// WrittenKind returns the kind of the values in etcd.
func (r *Resource) WrittenKind() schema.GroupVersionKind {
	if r.Written != nil {
		return r.Written.Kind
	}
	return r.Stored
}

// GroupResource returns the name that errors use: "pods", "deployments.apps".
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// Has reports whether the verb is served.
func (r *Resource) Has(verb string) bool { return slices.Contains(r.Verbs, verb) }

// Subresource returns the subresource of that name, or nil.
func (r *Resource) Subresource(name string) *Subresource {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i]
		}
	}
	return nil
}

// Has reports whether the verb is served.
func (s *Subresource) Has(verb string) bool { return slices.Contains(s.Verbs, verb) }

// NameRule returns the rule for an object's name.
func (r *Resource) NameRule(obj runtime.Object) apivalidation.ValidateNameFunc {
	switch {
	case r.Strategy.Metadata.NameOf != nil:
		return r.Strategy.Metadata.NameOf(obj)
	case r.Strategy.Name != nil:
		return r.Strategy.Name
	}
	return apivalidation.NameIsDNSSubdomain
}

// Denied returns the error for a user who lacks a permission that a valid change of the subresource needs. The
// subresource may be nil.
func (s *Subresource) Denied(
	obj, old runtime.Object, u authorization.User, authorize func(*authorization.Attributes) authorization.Decision,
) field.ErrorList {
	if s == nil || s.Permit == nil {
		return nil
	}
	return s.Permit(obj, old, u.Name, authorization.May(authorize, u))
}

// ServeOne calls Serve for one custom resource.
func (r *Resource) ServeOne(obj runtime.Object) (runtime.Object, error) {
	out, err := r.Serve([]runtime.Object{obj})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}
