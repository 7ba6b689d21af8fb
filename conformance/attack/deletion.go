package attack

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// deletion is what makes DELETE and the collector work.
func deletion() []Attack {
	return []Attack{
		{
			Group: "deletion", Name: "finalizers", Answers: 4,
			Does:  "Deletes an object that has 90,000 finalizers, over and over.",
			Setup: func(ctx context.Context, t *Target) error { return t.held(ctx, "held", 90_000, "") },
			Run:   again(4, attacker, func() Request { return Request{Method: "DELETE", Path: configMaps + "/held"} }),
		},
		{
			Group: "deletion", Name: "finalizers-dry", Answers: 4,
			Does:  "Does the same as dry runs.",
			Setup: func(ctx context.Context, t *Target) error { return t.held(ctx, "held", 90_000, "") },
			Run: again(4, attacker, func() Request {
				return Request{Method: "DELETE", Path: configMaps + "/held?dryRun=All"}
			}),
		},
		{
			Group: "deletion", Name: "collector", Answers: 24, For: 15 * time.Second,
			Does: "Creates 24 objects with 50,000 finalizers and a missing owner. Other cascades must go on.",
			Run: func(ctx context.Context, a *Attacker) error {
				c := a.client(attacker, false)
				defer c.close()
				for i := range 24 {
					body := held(fmt.Sprintf("held%d", i), 50_000, missingOwner)
					answer, err := c.send(ctx, Request{Method: "POST", Path: configMaps, Body: body})
					a.count(ctx, answer.Code, err)
				}
				<-ctx.Done()
				return nil
			},
			Meanwhile: cascades,
		},
	}
}

const (
	configMaps   = attacked + "/configmaps"
	missingOwner = `,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"gone"}]`
)

// held is a ConfigMap with so many finalizers.
func held(name string, finalizers int, owners string) []byte {
	list := items(finalizers, func(i int) string { return fmt.Sprintf(`"a.b/%d"`, i) })
	return []byte(`{"metadata":{"name":"` + name + `"` + owners + `,"finalizers":[` + list + `]}}`)
}

func (t *Target) held(ctx context.Context, name string, finalizers int, owners string) error {
	c := t.client(admin, false)
	defer c.close()
	return c.make(ctx, configMaps, string(held(name, finalizers, owners)))
}

// items joins n items with commas.
func items(n int, item func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	return b.String()
}

// cascades deletes owners in another namespace, and has each cascade done within five seconds, as long as ctx goes on.
func cascades(ctx context.Context, t *Target) error {
	c := t.client(admin, true)
	defer c.close()
	for round := 0; ctx.Err() == nil; round++ {
		err := c.cascade(ctx, round)
		switch {
		case ctx.Err() != nil && round > 0:
			return nil // the attack has ended in the middle of it
		case err != nil:
			return fmt.Errorf("cascade %d: %w", round, err)
		}
	}
	return nil
}

// cascade makes an owner with ten dependents, deletes it and waits until they are gone.
func (c *Client) cascade(ctx context.Context, round int) error {
	const path, dependents = namespaces + "/other/configmaps", 10
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	owner := fmt.Sprintf("owner%d", round)
	body := []byte(`{"metadata":{"name":"` + owner + `"}}`)
	a, err := c.want(ctx, http.StatusCreated, Request{Method: "POST", Path: path, Body: body})
	if err != nil {
		return err
	}
	var o struct {
		Metadata struct{ UID, ResourceVersion string }
	}
	if err := json.Unmarshal(a.Body, &o); err != nil {
		return err
	}
	since := path + "?watch=1&resourceVersion=" + o.Metadata.ResourceVersion
	watch, err := c.open(ctx, Request{Method: "GET", Path: since}, nil)
	if err != nil {
		return err
	}
	defer watch.Body.Close()
	for i := range dependents {
		body := fmt.Sprintf(`{"metadata":{"name":"%s-%d","ownerReferences":[
			{"apiVersion":"v1","kind":"ConfigMap","name":"%s","uid":"%s"}]}}`, owner, i, owner, o.Metadata.UID)
		if err := c.make(ctx, path, body); err != nil {
			return err
		}
	}
	if _, err := c.want(ctx, http.StatusOK, Request{Method: "DELETE", Path: path + "/" + owner}); err != nil {
		return err
	}
	deleted := 0
	for s := bufio.NewScanner(watch.Body); deleted < dependents+1 && s.Scan(); {
		if strings.HasPrefix(s.Text(), `{"type":"DELETED"`) {
			deleted++
		}
	}
	if deleted <= dependents {
		return fmt.Errorf("%d of %d objects are gone", deleted, dependents+1)
	}
	return nil
}
