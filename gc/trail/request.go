package trail

import "strings"

// Type is a served kind of objects.
type Type struct{ Group, Version, Kind, Resource string }

func (k Type) apiVersion() string { return strings.TrimPrefix(k.Group+"/"+k.Version, "/") }

func (k Type) path(namespace, name string) string {
	p := "/apis/" + k.apiVersion()
	if k.Group == "" {
		p = "/api/" + k.Version
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + k.Resource + "/" + name
}

// Subject is the object that is deleted.
type Subject struct {
	Type
	Namespace, Name, UID string
	Terminating          bool // deletionTimestamp was set before the object is removed
}

// Sent is a request of a client or of a controller.
type Sent struct {
	User, Agent, Verb string
	URI               string // empty if it is that of the object in its type's version, without a query
	AuditID           string
	Fault             string // an injected fault, such as the loss of the answer
	Policy            string
	Own               bool // a controller of this process made the request
	Reason            Reason
	Owners            []Object
}

// The limits of a recorded request: the number of owners, and the bytes of a string.
const (
	mostOwners = 8
	mostString = 512
)

// controllers is the prefix of the user names of controllers.
const controllers = "system:serviceaccount:kube-system:"

// NewRequest returns the request as it is recorded. It is immutable; the removals of a collection share it. The URI
// may be empty, as in Sent.
func NewRequest(s Sent) *Request {
	r := &Request{
		User: cut(s.User), UserAgent: cut(s.Agent), Verb: cut(s.Verb), URI: cut(s.URI), AuditID: cut(s.AuditID),
		Fault: s.Fault, Policy: cut(s.Policy), Reason: s.Reason,
	}
	if s.Own {
		r.Controller = r.UserAgent // of a part of kube-apiserver, or of a simulated kubelet
		if name, ok := strings.CutPrefix(r.User, controllers); ok {
			r.Controller = name
		}
	}
	for _, o := range s.Owners[:min(len(s.Owners), mostOwners)] {
		r.Owners = append(r.Owners, Owner{Object: Object{
			APIVersion: copied(o.APIVersion), Kind: copied(o.Kind), Name: copied(o.Name), UID: copied(o.UID),
		}})
	}
	return r
}

// cut returns at most mostString bytes of a string.
func cut(s string) string {
	if len(s) <= mostString {
		return s
	}
	return strings.ToValidUTF8(s[:mostString], "") + "…"
}

// copied is cut for a string that may be a part of an object.
func copied(s string) string { return strings.Clone(cut(s)) }

// copiedList returns the first strings of a list, with mostString bytes together.
func copiedList(list []string) (out []string) {
	left := mostString
	for _, s := range list {
		if left -= len(s) + 1; left < 0 && len(list) > 1 {
			return append(out, "…")
		}
		out = append(out, copied(s))
	}
	return out
}
