package drive

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// Request is an operation in the form in which it is sent.
type Request struct {
	Method, Path, ContentType string
	Body                      []byte
}

// Curl returns the command that sends the request to the server at the URL in $SERVER.
func (r Request) Curl() string {
	var b strings.Builder
	fmt.Fprintf(&b, "curl -sS -X %s \"$SERVER\"'%s'", r.Method, r.Path)
	if len(r.Body) > 0 {
		fmt.Fprintf(&b, " -H 'Content-Type: %s' -d '%s'", r.ContentType, strings.ReplaceAll(string(r.Body), "'", `'\''`))
	}
	return b.String()
}

type fields = map[string]any

// Request returns the request of a resolved operation for this server.
func (s *Session) Request(op model.Op) Request {
	k := model.KindOf(op.Key.Kind)
	k.APIVersion = op.APIVersion()
	r := Request{Path: s.collection(k, op.Key.Namespace), ContentType: "application/json"}
	if op.Verb != model.Create && op.Verb != model.Collection {
		r.Path += "/" + s.realName(k.Name, op.Key.Name)
	}
	query := url.Values{}
	if op.DryRun && op.Verb != model.Delete && op.Verb != model.Collection {
		query.Set("dryRun", "All")
	}
	var body any
	switch op.Verb {
	case model.Get:
		r.Method = "GET"
	case model.Create:
		r.Method, body = "POST", s.whole(op)
	case model.Put:
		r.Method, body = "PUT", s.whole(op)
	case model.Merge:
		r.Method, r.ContentType, body = "PATCH", "application/merge-patch+json", fields{"metadata": s.patch(op)}
	case model.Strategic:
		r.Method, r.ContentType, body = "PATCH", "application/strategic-merge-patch+json", fields{"metadata": s.strategic(op)}
	case model.JSON:
		r.Method, r.ContentType = "PATCH", "application/json-patch+json"
		body = []fields{{"op": "remove", "path": "/metadata/" + op.Remove}}
	case model.Delete, model.Collection:
		r.Method = "DELETE"
		if op.Verb == model.Collection && op.Label != "" {
			query.Set("labelSelector", label+"="+op.Label)
		}
		body = s.options(op, query)
	}
	if body != nil {
		r.Body, _ = json.Marshal(body) // maps of strings and numbers
	}
	if len(query) > 0 {
		r.Path += "?" + query.Encode()
	}
	return r
}

func (s *Session) collection(k model.Kind, ns string) string {
	version := s.realVersion(k.APIVersion)
	path := "/apis/" + version
	if !strings.Contains(version, "/") {
		path = "/api/" + version
	}
	if k.Namespaced && ns != "" {
		path += "/namespaces/" + s.realNamespace(ns)
	}
	return path + "/" + k.Plural
}

// options returns the body of a delete, or puts the options into the query.
func (s *Session) options(op model.Op, query url.Values) any {
	o, pre := fields{}, s.claim(op, fields{})
	if op.Policy != "" {
		o["propagationPolicy"] = op.Policy
	}
	if op.Orphans != model.Unset {
		o["orphanDependents"] = op.Orphans == model.True
	}
	if op.Grace != nil {
		o["gracePeriodSeconds"] = *op.Grace
	}
	if op.Query {
		maps.Copy(o, pre) // C-02
		for name, v := range o {
			query.Set(name, fmt.Sprint(v))
		}
		if op.DryRun {
			query.Set("dryRun", "All")
		}
		return nil
	}
	if op.DryRun {
		o["dryRun"] = []string{"All"}
	}
	if len(pre) > 0 {
		o["preconditions"] = pre
	}
	if len(o) == 0 {
		return nil
	}
	o["kind"], o["apiVersion"] = "DeleteOptions", "v1"
	return o
}

// claim adds the operation's uid and version to metadata or preconditions.
func (s *Session) claim(op model.Op, m fields) fields {
	if op.UID != "" {
		m["uid"] = s.real(op.UID)
	}
	if op.Version != 0 {
		m["resourceVersion"] = strconv.FormatInt(op.Version, 10)
	}
	return m
}

func (s *Session) patch(op model.Op) fields {
	m := fields{}
	if op.Set&model.SetOwners != 0 {
		m["ownerReferences"] = s.references(op.Owners)
	}
	if op.Set&model.SetFinalizers != 0 {
		m["finalizers"] = append([]string{}, op.Finalizers...)
	}
	if op.Set&model.SetLabel != 0 {
		m["labels"] = fields{label: op.Label}
		if op.Label == "" {
			m["labels"] = nil
		}
	}
	return s.claim(op, m)
}

func (s *Session) strategic(op model.Op) fields {
	refs := []any{}
	for _, r := range s.references(op.Owners) {
		refs = append(refs, r)
	}
	for _, uid := range op.Drop {
		refs = append(refs, fields{"$patch": "delete", "uid": s.real(uid)})
	}
	return s.claim(op, fields{"ownerReferences": refs})
}

// whole returns the body of a create or put.
func (s *Session) whole(op model.Op) fields {
	m := fields{"name": s.realName(op.Key.Kind, op.Key.Name)}
	if len(op.Owners) > 0 {
		m["ownerReferences"] = s.references(op.Owners)
	}
	if len(op.Finalizers) > 0 {
		m["finalizers"] = op.Finalizers
	}
	if op.Label != "" {
		m["labels"] = fields{label: op.Label}
	}
	k := model.KindOf(op.Key.Kind)
	o := fields{"apiVersion": s.realVersion(op.APIVersion()), "kind": k.Name, "metadata": s.claim(op, m)}
	s.content(op, o)
	return o
}

// content adds the fields that the kind requires.
func (s *Session) content(op model.Op, o fields) {
	containers := []fields{{"name": "c", "image": "c"}}
	template := fields{"metadata": fields{"labels": fields{"app": "x"}}, "spec": fields{"containers": containers}}
	switch op.Key.Kind {
	case "ReplicationController":
		o["spec"] = fields{"replicas": 0, "selector": fields{"app": "x"}, "template": template}
	case "ReplicaSet":
		o["spec"] = fields{"replicas": 0, "selector": fields{"matchLabels": fields{"app": "x"}}, "template": template}
	case "Pod":
		spec := fields{"containers": containers, "terminationGracePeriodSeconds": op.Period}
		if op.Bound {
			spec["nodeName"] = "node"
		}
		o["spec"] = spec
	case "StorageClass":
		o["provisioner"] = "example.com/none"
	case "Event":
		o["involvedObject"] = fields{"namespace": s.realNamespace(op.Key.Namespace), "kind": "Pod", "name": "p"}
		o["reason"], o["type"] = "Test", "Normal"
	}
}
