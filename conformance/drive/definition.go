package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/conformance/model"
)

const (
	// servedWithin bounds the wait for a definition to be served; a real server takes a few seconds.
	servedWithin = 30 * time.Second
	// knownWithin bounds the wait for a collector to know a kind; upstream's looks for new ones every 30 s.
	knownWithin = 45 * time.Second
)

// errNotServed is what a server without custom resources makes of a definition.
var errNotServed = errors.New("the server doesn't serve custom resources")

var definitions = model.Kind{
	Name: "CustomResourceDefinition", APIVersion: "apiextensions.k8s.io/v1", Plural: "customresourcedefinitions",
}

// definition is the request that makes a custom kind.
func (s *Session) definition(k model.Kind) Request {
	group, _, _ := strings.Cut(s.realVersion(k.APIVersion), "/")
	var versions []fields
	for _, v := range k.Versions() {
		_, name, _ := strings.Cut(v, "/")
		versions = append(versions, fields{"name": name, "served": true, "storage": v == k.Stored,
			"schema": fields{"openAPIV3Schema": fields{"type": "object"}}})
	}
	scope := "Cluster"
	if k.Namespaced {
		scope = "Namespaced"
	}
	body, _ := json.Marshal(fields{"apiVersion": definitions.APIVersion, "kind": definitions.Name, // maps of strings
		"metadata": fields{"name": k.Plural + "." + group},
		"spec": fields{"group": group, "scope": scope, "names": fields{"plural": k.Plural, "kind": k.Name},
			"versions": versions}})
	return Request{http.MethodPost, s.collection(definitions, ""), "application/json", body}
}

// define makes the session's custom kinds, all of them before the collector is waited for. One that takes nothing
// away is waited for once; idle reports that it is known not to.
func (s *Session) define(ctx context.Context, idle bool) error {
	var custom []model.Kind
	for _, k := range s.kinds {
		if !k.Custom {
			continue
		}
		code, answer, err := s.do(ctx, s.definition(k))
		if err == nil && code != http.StatusCreated {
			err = fmt.Errorf("%w: %d %.200s", errNotServed, code, answer)
		}
		if err == nil {
			err = s.served(ctx, k)
		}
		if err != nil {
			return fmt.Errorf("defining %s: %w", k.Plural, err)
		}
		custom = append(custom, k)
	}
	s.idle = idle
	for _, k := range custom {
		if s.idle {
			break
		}
		collected, err := s.known(ctx, k)
		if err != nil {
			return fmt.Errorf("defining %s: %w", k.Plural, err)
		}
		s.idle = !collected
	}
	return nil
}

// served waits until a kind can be listed. There is nothing to watch before.
func (s *Session) served(ctx context.Context, k model.Kind) error {
	ctx, cancel := context.WithTimeoutCause(ctx, servedWithin, errNotServed)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		if _, _, err := s.list(ctx, s.collection(k, "")); err == nil {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// known makes an object of the kind whose owner is absent, and waits until the collector takes it away. A server that
// has none keeps it, and is used without: it is deleted then, and collected is false.
func (s *Session) known(ctx context.Context, k model.Kind) (collected bool, err error) {
	ns := ""
	if k.Namespaced {
		ns = model.Namespaces[0]
	}
	name := s.realName(k.Name, "known")
	body, _ := json.Marshal(fields{"apiVersion": s.realVersion(k.APIVersion), "kind": k.Name,
		"metadata": fields{"name": name,
			"ownerReferences": s.references(
				[]model.Owner{{APIVersion: k.APIVersion, Kind: k.Name, Name: "absent", UID: "absent"}},
			)}})
	code, answer, err := s.do(ctx, Request{http.MethodPost, s.collection(k, ns), "application/json", body})
	if err == nil && code != http.StatusCreated {
		err = fmt.Errorf("%d %.200s", code, answer)
	}
	if err != nil {
		return false, err
	}
	path := s.collection(k, ns) + "/" + name
	limit := time.After(knownWithin)
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		code, _, err := s.do(ctx, Request{Method: http.MethodGet, Path: path})
		if err != nil || code == http.StatusNotFound {
			return err == nil, err
		}
		select {
		case <-time.After(pause):
		case <-limit:
			_, _, err := s.do(ctx, Request{Method: http.MethodDelete, Path: path})
			return false, err
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
