package drive

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// label is the key of the only label that the model has.
const label = "l"

// answer has the fields that are read of any body.
type answer struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
	Reason     string            `json:"reason"`
	Items      []struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	} `json:"items"`
}

func tri(b *bool) model.Tri {
	switch {
	case b == nil:
		return model.Unset
	case *b:
		return model.True
	}
	return model.False
}

func boolean(t model.Tri) *bool {
	if t == model.Unset {
		return nil
	}
	return new(t == model.True)
}

// realName returns an object's name on the server. Names of cluster-scoped objects get the session's prefix, because
// other clients may use the same names.
func (s *Session) realName(kind, name string) string {
	if clusterScoped(kind) && name != "" {
		return s.prefix + name
	}
	return name
}

func clusterScoped(kind string) bool {
	return slices.ContainsFunc(model.Kinds, func(k model.Kind) bool { return k.Name == kind && !k.Namespaced })
}

func (s *Session) realNamespace(ns string) string {
	if ns == "" || ns == model.NoNamespace {
		return ns
	}
	return s.prefix + ns
}

// customGroup is the group of custom kinds in the model. On a server, each session has its own group instead, because
// it creates and deletes the CustomResourceDefinitions.
const customGroup = "example.com/"

func (s *Session) realVersion(apiVersion string) string {
	if strings.HasPrefix(apiVersion, customGroup) {
		return s.prefix + apiVersion
	}
	return apiVersion
}

// references returns owner references for this server.
func (s *Session) references(owners []model.Owner) []metav1.OwnerReference {
	refs := make([]metav1.OwnerReference, len(owners))
	for i, o := range owners {
		refs[i] = metav1.OwnerReference{
			APIVersion: s.realVersion(o.APIVersion), Kind: o.Kind, Name: s.realName(o.Kind, o.Name),
			UID: types.UID(s.real(o.UID)), Controller: boolean(o.Controller), BlockOwnerDeletion: boolean(o.Block),
		}
	}
	return refs
}

// object returns an object of the kind from its metadata, or false if it is not an object of the session.
func (s *Session) object(kind string, m metav1.ObjectMeta) (model.Object, bool) {
	o := model.Object{Key: model.Key{Kind: kind, Name: m.Name}, Grace: model.NoGrace, Generation: m.Generation,
		Finalizers: m.Finalizers, Label: m.Labels[label], Deleting: m.DeletionTimestamp != nil}
	var mine bool
	if clusterScoped(kind) {
		o.Name, mine = strings.CutPrefix(m.Name, s.prefix)
	} else {
		o.Namespace, mine = strings.CutPrefix(m.Namespace, s.prefix)
	}
	reported := kind == "Event" && strings.Contains(m.Name, ".") // an Event that a server has created (D-80)
	mine = mine && !reported && !isSentinel(kind, m.Name)
	if m.DeletionGracePeriodSeconds != nil {
		o.Grace = *m.DeletionGracePeriodSeconds
	}
	o.UID = s.Symbol(string(m.UID))
	o.Version, _ = strconv.ParseInt(m.ResourceVersion, 10, 64) // empty in the response to a dry run
	for _, r := range m.OwnerReferences {
		name := r.Name
		if clusterScoped(r.Kind) {
			name = strings.TrimPrefix(name, s.prefix)
		}
		o.Owners = append(o.Owners, model.Owner{APIVersion: strings.TrimPrefix(r.APIVersion, s.prefix), Kind: r.Kind,
			Name: name, UID: s.Symbol(string(r.UID)), Controller: tri(r.Controller), Block: tri(r.BlockOwnerDeletion)})
	}
	return o, mine
}

// read decodes a response.
func (s *Session) read(op model.Op, code int, body []byte) (model.Response, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return model.Response{}, fmt.Errorf("reading the response to %s: %w: %.200s", op, err, body)
	}
	r := model.Response{Code: code}
	switch {
	case a.Kind == "Status":
		r.Reason = a.Reason
		return r, nil
	case code < 300 && a.APIVersion != s.realVersion(op.APIVersion()):
		return r, fmt.Errorf("the response to %s has the version %q", op, a.APIVersion)
	case op.Verb == model.Collection:
		for _, i := range a.Items {
			if o, mine := s.object(op.Key.Kind, i.Metadata); mine {
				r.Items = append(r.Items, o)
			}
		}
		return r, nil
	}
	if op.Verb == model.Create && !op.DryRun {
		s.created(op, string(a.Metadata.UID))
	}
	o, _ := s.object(op.Key.Kind, a.Metadata)
	if op.Verb == model.Create {
		o.UID = symbolOf(op)
	}
	r.Object = &o
	return r, nil
}

// Translate replaces UIDs whose symbols were not known when the response was read.
func (s *Session) Translate(r model.Response) model.Response {
	if r.Object != nil {
		r.Object = new(s.translate(*r.Object))
	}
	r.Items = slices.Clone(r.Items)
	for i := range r.Items {
		r.Items[i] = s.translate(r.Items[i])
	}
	return r
}

func (s *Session) translate(o model.Object) model.Object {
	o.UID, o.Owners = s.Symbol(string(o.UID)), slices.Clone(o.Owners)
	for i := range o.Owners {
		o.Owners[i].UID = s.Symbol(string(o.Owners[i].UID))
	}
	return o
}

// symbolOf returns the symbol for the uid of the object that a create creates.
func symbolOf(op model.Op) model.UID { return model.UID(fmt.Sprintf("u%d", op.ID)) }

// created records the uid of an object.
func (s *Session) created(op model.Op, uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uids[symbolOf(op)] = uid
	s.symbols[uid] = symbolOf(op)
}

// real returns the UID that a symbol represents. If the object was never created, the UID is invented.
func (s *Session) real(uid model.UID) string {
	if uid == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.uids[uid]; ok {
		return r
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // never fails
	r := fmt.Sprintf("00000000-0000-4000-8000-%012x", h.Sum64()&0xffffffffffff)
	s.symbols[r] = uid
	return r
}

// Symbol returns the symbol of a UID, or the UID itself if it is unknown.
func (s *Session) Symbol(uid string) model.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sym, ok := s.symbols[uid]; ok {
		return sym
	}
	return model.UID(uid)
}

// Bind returns the operation as it can be sent now. It replaces the symbols of objects that have not been created: if
// such an object is created a moment later, the references must not change.
func (s *Session) Bind(op model.Op) model.Op {
	s.mu.Lock()
	defer s.mu.Unlock()
	bind := func(uid model.UID) model.UID {
		if _, known := s.uids[uid]; known || uid == "" || uid[0] != 'u' {
			return uid
		}
		return "no-" + uid
	}
	op.Owners, op.Drop, op.UID = slices.Clone(op.Owners), slices.Clone(op.Drop), bind(op.UID)
	for i := range op.Owners {
		op.Owners[i].UID = bind(op.Owners[i].UID)
	}
	for i := range op.Drop {
		op.Drop[i] = bind(op.Drop[i])
	}
	return op
}
