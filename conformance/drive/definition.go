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
	// servedWithin is the time within which a server must serve a CustomResourceDefinition; a real server takes
	// seconds.
	servedWithin = 30 * time.Second
	// knownWithin is the time within which a collector must watch a new kind; upstream's searches for new ones every 30
	// s.
	knownWithin = 45 * time.Second
)

var errNotServed = errors.New("the server doesn't serve custom resources")

var definitions = model.Kind{
	Name: "CustomResourceDefinition", APIVersion: "apiextensions.k8s.io/v1", Plural: "customresourcedefinitions",
}

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

// define defines the session's custom kinds, and then waits for the collector. If the server does not collect objects
// of one of them, define sets Idle.
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

// pauses are the pauses between requests that wait for a CustomResourceDefinition.
var pauses = wait.Backoff{Duration: time.Millisecond, Factor: 2, Cap: time.Second, Steps: math.MaxInt}

// served waits until a kind can be listed. Before that it can't be watched.
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

// known creates an object of the kind whose owner is absent, and waits until the collector deletes it. If the server
// has no collector, known deletes the object, and returns false.
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

// sentinelName is the prefix of the names of ConfigMaps that the model does not have.
const sentinelName = "collected-"

// isSentinel reports whether the object is a sentinel, which shows a collector's progress.
func isSentinel(kind, name string) bool {
	return kind == "ConfigMap" && strings.HasPrefix(name, sentinelName)
}

// Sentinel creates an object whose owner is absent, and waits until it is collected. A collector that processes events
// in order has then processed all earlier events. n must differ in each call. Timelines omit the object. If ctx ends
// first, Sentinel deletes the object and returns false.
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
