package entry

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecascade/kubecascade/apiserver/resources/hooks"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
)

// ConversionError says that what is stored is well, and can't be shown in the version asked for, or that
// what was sent can't be stored, as a definition's conversion strategy failed. The client is told its text.
type ConversionError struct{ Err error }

// Error is the strategy's own text. The error is hidden: a webhook's status isn't this server's.
func (e *ConversionError) Error() string { return e.Err.Error() }

// Resource is one entry of the table: everything the handlers must know of a served
// group-version-resource. An entry is immutable once it is in a table; a change of a
// CustomResourceDefinition makes a new one.
type Resource struct {
	// Group is empty for the core group.
	Group, Version string
	// Plural is the name in paths ("pods"), Singular and ShortNames what kubectl accepts besides.
	Plural, Singular string
	ShortNames       []string
	Categories       []string
	Kind             string
	// ListKind is the kind of lists; empty means Kind with "List" behind it.
	ListKind   string
	Namespaced bool
	// Verbs as discovery prints them.
	Verbs []string

	// Collection is the part of the etcd key that names the resource (storage.Collection):
	// "pods", "services/specs", "stable.example.com/crontabs". Empty for what isn't stored.
	Collection string
	// Virtual says that nothing is stored: the Hooks answer.
	Virtual bool
	// Hooks are what the kind does beyond what all kinds do.
	Hooks hooks.Hooks
	// Stored is the kind that is written to etcd; versions of one resource share it.
	Stored schema.GroupVersionKind
	// ToStored and FromStored convert between this version and the stored one; nil when they are
	// the same kind. They change nothing of their argument and share no memory with it, and return
	// an argument that already is of the kind asked for as it is.
	//
	// An error that a definition's conversion strategy made is a ConversionError.
	ToStored, FromStored func(runtime.Object) (runtime.Object, error)
	// FromStoredOwned, if set, is FromStored for an object that nothing else refers to: it may share memory with it.
	FromStoredOwned func(runtime.Object) (runtime.Object, error)
	// Optional are the versions that are only served when asked for (--runtime-config). Their entries follow from this one.
	Optional []Version
	// Direct says that requests work on the served version, and convert where they read and write. Others
	// work on the stored one, whose hooks see the served one where they need it.
	Direct bool
	// Serve, of custom resources, converts objects of any version to this one, those that need it together.
	// It may change its arguments and return them. Its errors are those of FromStored.
	Serve func([]runtime.Object) ([]runtime.Object, error)
	// Convert, of custom resources, converts an object of any version to any version, served or not, as the
	// definition's conversion strategy does: fields that the version's schema doesn't know stay. It changes nothing
	// of its argument. Its errors are those of FromStored.
	Convert func(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error)

	// New returns an empty object of the served version.
	New func() runtime.Object
	// Custom says that objects are unstructured and print their keys in alphabetical order.
	Custom bool
	// Seal is set on cached objects whose bytes are what clients of this entry are sent.
	Seal *storage.Seal
	// Coerce, of custom resources, brings a decoded body into the shape of its schema, and returns the
	// paths of the fields that went because the schema doesn't know them.
	Coerce func(obj runtime.Object) (unknown []string, err error)
	// Restore, of custom resources, does so with a stored object, by the schema of the version that it was
	// stored in, and fills in defaults: the schema may have changed since. The object stays in that version.
	Restore func(obj runtime.Object) error
	// OpenAPI returns the schemas of custom resources for documents of version 3 and 2; either may be nil.
	OpenAPI func() (v3, v2 *spec.Schema, err error)
	// Unserved, of custom resources, are what the entries of the definition's other versions would be that
	// aren't served: managedFields may still speak of them.
	Unserved []*Resource
	// Origin, of custom resources, is the uid of their definition: another one of that name defines
	// another resource.
	Origin string
	// State, of custom resources, names the state of their definition: what an object is shown as depends on
	// nothing else. Empty means that it isn't known.
	State string
	// Defines says that the table of types follows the objects.
	Defines bool

	Strategy     Strategy
	Subresources []Subresource

	// Deletion.
	Delete Deletion

	// Selectable, of built-in kinds, are the fields besides metadata.name and metadata.namespace that field selectors may
	// name; Fields and FieldNames follow from them.
	Selectable []Field
	// Fields are the selectable fields besides metadata.name and metadata.namespace, read from the
	// stored JSON, of custom resources from that of this version. FieldNames are their labels in this version, in the same order.
	FieldNames []string
	Fields     []storage.FieldPath
	// FieldError is the text for an unknown field label with one verb (%s, %q) for it; empty means
	// "field label not supported: %s" for kinds with FieldNames and H-41's for others.
	FieldError string
	// FieldAliases maps further labels to those of FieldNames (spec.host to spec.nodeName).
	FieldAliases map[string]string

	// Columns and Cells print a Table; nil Columns mean Name and Created At/Age by default.
	Table Table

	// Off says that clients aren't served this version, unless --runtime-config says so or, of versions that are
	// served by default, because it says so. The server itself goes on to work with it.
	Off bool

	// Deprecated is the warning that every request for this version earns; empty for none.
	Deprecated string

	// Inert says why stored objects have no effect, where a client can't see that by what happens; empty for
	// kinds that are in force. The writers are warned, or their tests would pass for the wrong reason.
	Inert string

	// Expires makes the stored object vanish by itself (events), after a time that the server is
	// told.
	Expires bool
}

// Deletion says how objects of a kind are deleted.
type Deletion struct {
	Policy finalizers.Policy
	// Returned says that a removal answers with the object instead of a Status (C-62).
	Returned bool
	// Kind, if set, completes finalizers.Kind from an object: grace periods, namespaces (C-30, C-80).
	Kind func(obj runtime.Object) finalizers.Kind
	// Mark, if set, is called on the object that a first DELETE leaves stored, to set what the
	// kind shows while it is terminating (a namespace's phase, a CRD's condition).
	Mark func(obj runtime.Object)
	// Begin, if set, is a status that follows Mark's at once, as a write of its own: whoever reads the
	// object after the DELETE was answered finds it (a CRD's condition, F-10). It changes nothing of an
	// object that is further than that.
	Begin func(obj runtime.Object)
	// Warning, if set, returns the text that a DELETE without a policy earns (C-24).
	Warning string
	// SpecFinalizers, if set, reads the finalizers that the kind keeps in its spec (namespaces, E-01).
	SpecFinalizers func(obj runtime.Object) []string
	// Refuse, if set, returns why an object may not be deleted at all (C-67); empty allows it.
	Refuse func(name string) string
}

// Generation says which changes bump metadata.generation (B-30 to B-36).
type Generation uint8

// The rules.
const (
	NoGeneration          Generation = iota
	SpecGeneration                   // 1 at create, +1 when spec changes
	SpecOrAnnotations                // deployments (B-31)
	AnyButMetaOrLabels               // endpointslices (B-33)
	TemplateGeneration               // podtemplates: the template
	CreateOnlyGeneration             // 1 at create and never bumped (priorityclasses)
	UpdateOnlyGeneration             // csidrivers: bumped on spec, not set at create
	CustomGeneration                 // custom resources with a status subresource: all but metadata and status (B-34)
	CustomWholeGeneration            // custom resources without: all but metadata
	RootGeneration                   // kinds without a spec whose body counts (webhook configurations): all but metadata
)

// Strategy is what differs between kinds on a write. Every func may be nil. The funcs take
// objects of the served version, and where that is not the stored one, of the stored version too.
type Strategy struct {
	Generation Generation
	// CreateOnUpdate lets PUT create (B-03); Conditional makes it refuse an empty resourceVersion (B-06).
	CreateOnUpdate, Conditional bool
	// Name validates metadata.name; nil means a DNS subdomain.
	Name func(name string, prefix bool) []string
	// CustomMeta kinds are validated without the rule for un-prefixed finalizers.
	CustomMeta bool
	// MetadataAgain is how often the kind's own rules for an update validate all metadata, apart from the general rules
	// that every kind has, so that an error is returned as often (0-06; K pkg/apis/core/validation, rbac/validation:
	// Validate...Update, and the strategies' ValidateUpdate).
	MetadataAgain int
	// PlainMeta kinds look at metadata nowhere in their own validation: only the rules that all kinds
	// have are left, and of a new object's only if nothing else was wrong with it.
	PlainMeta bool

	// Default fills in what a client left out, after every decoding of a client's or a stored object. An entry gives one
	// for the served version; DefaultStored is for the stored version if that has other defaults, and the table's
	// Default takes both.
	Default, DefaultStored func(obj runtime.Object)
	// PrepareCreate and PrepareUpdate set what clients may not; status has been dropped or kept
	// already and generation is set afterwards.
	PrepareCreate func(obj runtime.Object)
	PrepareUpdate func(obj, old runtime.Object)
	// Validate and ValidateUpdate judge everything but metadata.
	Validate       func(obj runtime.Object) field.ErrorList
	ValidateUpdate func(obj, old runtime.Object) field.ErrorList
	// Requester, if set, notes in a new object who asks for it, after PrepareCreate (signing requests).
	Requester func(obj runtime.Object, name, uid string, groups []string, extra map[string][]string)
	// OwnStatus says that PrepareCreate and PrepareUpdate decide what becomes of the status, so that
	// it is neither dropped nor kept before they are called (nodes, servicecidrs).
	OwnStatus bool
	// EarlyWarnings are those that are lost once PrepareCreate has run; it is called before.
	EarlyWarnings func(obj runtime.Object) []string
	// Warnings returns the texts of Warning headers; old is nil on create. It is called after
	// PrepareCreate or PrepareUpdate.
	Warnings func(obj, old runtime.Object) []string
}

// Action says how a subresource is carried out.
type Action uint8

// The actions.
const (
	// Status changes the object's status and keeps its spec.
	Status Action = iota
	// Part is an update of the whole object of which Prepare keeps what may not change
	// (namespaces/finalize, pods/ephemeralcontainers, certificatesigningrequests/approval).
	Part
	// Scale reads and writes the number of replicas at ScalePaths.
	Scale
	// ByHook is a POST that the kind carries out itself, by the subresource's Create.
	ByHook
	// Unserved answers 501 and isn't in discovery: it needs a kubelet or a proxy.
	Unserved
)

// Subresource is one path below an object.
type Subresource struct {
	// Name as in the path ("status"), Verbs as in discovery.
	Name   string
	Verbs  []string
	Action Action
	// Kind of the bodies; empty means the resource's own.
	Kind schema.GroupVersionKind
	// PrepareUpdate restores what this subresource may not change; ValidateUpdate judges the rest.
	PrepareUpdate  func(obj, old runtime.Object)
	ValidateUpdate func(obj, old runtime.Object) field.ErrorList
	// Warnings returns the texts of Warning headers for a write to this subresource.
	Warnings func(obj, old runtime.Object) []string
	// ScalePaths say where replicas, status replicas and the selector stand, for Action Scale.
	ScalePaths ScalePaths
	// Create carries out POST, for Action ByHook.
	Create hooks.Create
}

// ScalePaths are dot separated JSON paths. What stands at Selector is a string, a LabelSelector
// (deployments) or a plain map of labels (replicationcontrollers).
type ScalePaths struct{ Replicas, StatusReplicas, Selector string }

// Table is how objects of a kind are printed for kubectl get.
type Table struct {
	Columns []Column
	// Cells returns one value a column, of the types that JSON prints; now is for ages. It takes
	// an object of the served or of the stored version.
	Cells func(obj runtime.Object, now time.Time) []any
	// Conditions, if set, returns what is to be said of the whole row (a pod that completed).
	Conditions func(obj runtime.Object) []metav1.TableRowCondition
	// Compare, if set, orders the rows of a list: negative when a comes before b.
	Compare func(a, b runtime.Object) int
}

// Seen returns the table of objects that are printed as see returns them.
func (t Table) Seen(see func(runtime.Object) runtime.Object) Table {
	out := t
	out.Cells = func(obj runtime.Object, now time.Time) []any { return t.Cells(see(obj), now) }
	if t.Conditions != nil {
		out.Conditions = func(obj runtime.Object) []metav1.TableRowCondition { return t.Conditions(see(obj)) }
	}
	if t.Compare != nil {
		out.Compare = func(a, b runtime.Object) int { return t.Compare(see(a), see(b)) }
	}
	return out
}

// Column is a column's definition; Priority 1 shows with -o wide.
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

// GroupResource returns the name that errors use: "pods", "deployments.apps".
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// Has reports whether the verb is served.
func (r *Resource) Has(verb string) bool { return has(r.Verbs, verb) }

// Subresource returns the one of that name, or nil.
func (r *Resource) Subresource(name string) *Subresource {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i]
		}
	}
	return nil
}

// Has reports whether the verb is served.
func (s *Subresource) Has(verb string) bool { return has(s.Verbs, verb) }

func has(verbs []string, verb string) bool {
	for _, v := range verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// MetadataAgain is how often the kind's own rules for an update validate all metadata, apart from the
// general rules that every kind has.
func (r *Resource) MetadataAgain() int { return r.Strategy.MetadataAgain }
