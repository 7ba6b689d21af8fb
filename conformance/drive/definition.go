package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

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

// define makes the session's custom kinds, all of them before the collector is waited for. A server that does not
// collect objects of one is Idle from then on.
func (s *Session) define(ctx context.Context) error {
	custom := slices.DeleteFunc(slices.Clone(s.kinds), func(k model.Kind) bool { return !k.Custom })
	for _, k := range custom {
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
	}
	for i := 0; i < len(custom) && !s.Idle; i++ {
		collected, err := s.known(ctx, custom[i])
		if err != nil {
			return fmt.Errorf("defining %s: %w", custom[i].Plural, err)
		}
		s.Idle = !collected
	}
	return nil
}

// pauses are those between requests that wait for a definition.
var pauses = wait.Backoff{Duration: time.Millisecond, Factor: 2, Cap: time.Second, Steps: math.MaxInt}

// served waits until a kind can be listed. There is nothing to watch before.
func (s *Session) served(ctx context.Context, k model.Kind) error {
	ctx, cancel := context.WithTimeoutCause(ctx, servedWithin, errNotServed)
	defer cancel()
	if pauses.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		_, _, err := s.list(ctx, s.collection(k, ""))
		return err == nil, nil
	}) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// known creates an object of the kind whose owner is absent, and waits until the collector deletes it. A server that
// has none keeps it, and is used without: it is deleted then, and collected is false.
func (s *Session) known(ctx context.Context, k model.Kind) (collected bool, err error) {
	path, err := s.createOwned(ctx, k, "known")
	if err != nil {
		return false, err
	}
	limited, cancel := context.WithTimeout(ctx, knownWithin)
	defer cancel()
	err = pauses.DelayFunc().Until(limited, true, true, func(ctx context.Context) (bool, error) {
		code, _, err := s.do(ctx, Request{Method: http.MethodGet, Path: path})
		return code == http.StatusNotFound, err
	})
	if limited.Err() == nil || ctx.Err() != nil {
		return err == nil, err
	}
	_, _, err = s.do(ctx, Request{Method: http.MethodDelete, Path: path})
	return false, err
}

// createOwned creates an object of the kind, in the first namespace, whose owner is absent, and returns its path.
func (s *Session) createOwned(ctx context.Context, k model.Kind, name string) (path string, err error) {
	path, name = s.collection(k, model.Namespaces[0]), s.realName(k.Name, name)
	owner := model.Owner{APIVersion: k.APIVersion, Kind: k.Name, Name: "absent", UID: "absent"}
	body, _ := json.Marshal(fields{"apiVersion": s.realVersion(k.APIVersion), "kind": k.Name, // strings
		"metadata": fields{"name": name, "ownerReferences": s.references([]model.Owner{owner})}})
	return path + "/" + name, s.create(ctx, Request{http.MethodPost, path, "application/json", body})
}

// create sends a request that must create an object.
func (s *Session) create(ctx context.Context, r Request) error {
	code, answer, err := s.do(ctx, r)
	if err == nil && code != http.StatusCreated {
		err = fmt.Errorf("%d %.200s", code, answer)
	}
	return err
}

// sentinelName begins the names of ConfigMaps that aren't the model's.
const sentinelName = "collected-"

// isSentinel reports whether the object is one by which a collector's progress is seen.
func isSentinel(kind, name string) bool {
	return kind == "ConfigMap" && strings.HasPrefix(name, sentinelName)
}

// Sentinel makes an object whose owner is absent, and waits until it is collected: a collector that takes what
// happens in order has seen all that was there before. n is another one each time. No other client sees it. It is
// false if ctx ends first, and the object is deleted then.
func (s *Session) Sentinel(ctx context.Context, n int) (collected bool, err error) {
	name := fmt.Sprint(sentinelName, n)
	path, err := s.createOwned(ctx, model.KindOf("ConfigMap"), name)
	if err != nil {
		return false, err
	}
	for {
		s.mu.Lock()
		collected, more, err := s.collected[name], s.more, s.broken
		s.mu.Unlock()
		if collected || err != nil {
			return collected, err
		}
		select {
		case <-more:
		case <-ctx.Done():
			_, _, err := s.do(context.WithoutCancel(ctx), Request{Method: http.MethodDelete, Path: path})
			return false, err
		}
	}
}
