//go:build linux

package attack

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	things   = "/apis/attack.test/v1/namespaces/attack/things"
	pods     = attacked + "/pods?dryRun=All"
	dry      = "?dryRun=All"
	review   = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	anything = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`
	tables   = "application/json;as=Table;g=meta.k8s.io;v=v1"
	// long is the size of an HTTP/1.1 header: 200 KB of the allowed 256.
	long = 200_000
)

func table() []attack {
	return slices.Concat([]attack{{
		name: "nothing", does: "If this is above its bounds, the machine is too busy for the others.",
		run: func(ctx context.Context, _ *mallory) error {
			<-ctx.Done()
			return nil
		},
	}}, bodies(), work(), slow(), watches(), floods(), connections(), admission())
}

// bodies returns attacks with bodies that are small when they are sent and large when they are decoded, or costly to
// validate.
func bodies() (all []attack) {
	pod := func(spec string) string {
		return `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],` + spec + `}}`
	}
	for _, b := range []struct {
		name       string
		clients    int
		path, body string
	}{
		{"volume-paths", 1, pods, pod(`"volumes":[{"name":"v","configMap":{"name":"c","items":[` +
			items(9000, func(i int) string { return fmt.Sprintf(`{"key":"k%d","path":"p"}`, i) }) + `]}}]`)},
		{"ports", 1, pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","ports":[` +
			many(40_000, `{"containerPort":80,"hostPort":80}`) + `]}]}}`},
		{"tolerations", 4, pods, pod(`"tolerations":[` + many(80_000, `{"key":"k"}`) + `]`)},
		{"ip-families", 2, attacked + "/services?dryRun=All",
			`{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}],"ipFamilies":[` + many(60_000, `"x"`) + `]}}`},
		{"finalizers", 1, configMaps + dry, `{"metadata":{"name":"c","finalizers":[` + many(240_000, `""`) + `]}}`},
		{"containers", 20, pods, `{"metadata":{"name":"p"},"spec":{"containers":[` + many(120_000, `{}`) + `]}}`},
		{"owners", 20, pods, `{"metadata":{"name":"p","ownerReferences":[` + many(120_000, `{}`) + `]}}`},
		{"managed-fields", 20, pods, `{"metadata":{"name":"p","managedFields":[` + many(120_000, `{}`) + `]}}`},
		{"custom", 20, things + dry, thing(`[` + many(120_000, `{}`) + `]`)},
		{"custom-strings", 20, things + dry, thing(`[` + many(240_000, `""`) + `]`)},
		{"nested", 4, things + dry, thing(nested(100_000))},
	} {
		all = append(all, attack{name: "bodies/" + b.name, answers: 1, setup: defined(anything),
			does: "Creates, as a dry run, an object with a long or deep list.", run: post(b.clients, b.path, b.body)})
	}
	yaml := request{method: "POST", path: configMaps + dry, body: bomb(30), media: "application/yaml"}
	access := request{method: "POST", path: review, body: `{"metadata":{"managedFields":[` + many(120_000, `{}`) +
		`]},"spec":{"resourceAttributes":{"verb":"get"}}}`}
	applied := request{method: "PATCH", path: pods[:len(pods)-len(dry)] + "/p?dryRun=All&fieldManager=m",
		media: "application/apply-patch+yaml", body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{
		"containers":[{"name":"c","image":"i","ports":[` + items(9_990, func(i int) string {
			return fmt.Sprintf(`{"containerPort":%d}`, i+1)
		}) + `]}]}}`}
	return append(all,
		attack{name: "bodies/yaml", does: "Creates an object from YAML in which aliases double the size 30 times.",
			answers: 10, run: flood(attacker, 4, same(yaml))},
		attack{name: "bodies/review", does: "Sends a review, as every user may, with 120,000 managedFields.",
			answers: 1, run: flood(stranger, 20, same(access))},
		attack{name: "bodies/apply", does: "Applies a pod with 9,990 ports.", answers: 1,
			run: flood(attacker, 20, same(applied))})
}

// work returns attacks with small requests that cause much work for objects and CustomResourceDefinitions.
func work() []attack {
	patch := func(operations string) request {
		return request{method: "PATCH", path: things + "/t?dryRun=All", body: `[` + operations + `]`,
			media: "application/json-patch+json"}
	}
	numbers := `{"op":"add","path":"/list","value":[` + many(180_000, `0`) + `]},`
	removals := patch(numbers + many(9990, `{"op":"remove","path":"/list/0"}`))
	existing := func(ctx context.Context, t target) error {
		if err := defined(anything)(ctx, t); err != nil {
			return err
		}
		return t.create(ctx, [2]string{things, thing(`["x"]`)})
	}
	defaults := defined(`{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{
		"x":{"type":"string","default":"` + strings.Repeat("x", 100_000) + `"}}}}}}`)
	held := `{"metadata":{"name":"held","finalizers":[` +
		items(90_000, func(i int) string { return fmt.Sprintf(`"a.b/%d"`, i) }) + `]}}`
	return []attack{
		{name: "patches/removals", does: "Removes the first of 180,000 items 9,990 times, with one JSON patch.", answers: 1,
			setup: existing, run: flood(attacker, 4, same(removals))},
		{name: "patches/hang-up", does: "Closes the connection half a second after a costly patch, and sends the next.",
			setup: existing, run: func(ctx context.Context, m *mallory) error {
				c := m.client(attacker, false)
				each(ctx, 4, func(int, int) {
					short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
					defer cancel()
					code, _, err := c.send(short, removals)
					m.count(ctx, code, err)
				})
				return nil
			}},
		{name: "defaults/strings", does: "Creates, as a dry run, 100,000 items with a string of 100 KB by default.",
			answers: 1, setup: defaults, run: post(2, things+dry, thing(`[`+many(100_000, `{}`)+`]`))},
		{name: "deletion/finalizers", does: "Repeatedly deletes an object that has 90,000 finalizers.", answers: 4,
			setup: func(ctx context.Context, t target) error { return t.create(ctx, [2]string{configMaps, held}) },
			run:   flood(attacker, 4, same(request{method: "DELETE", path: configMaps + "/held"}))},
	}
}

// slow returns attacks with requests that are sent slowly, and responses that are read slowly or not at all.
func slow() []attack {
	get := func(path string) string { return head("GET", path, attacker) + "\r\n" }
	body := func(user string) string {
		return head("POST", configMaps, user) + "Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n"
	}
	const begun = "GET / HTTP/1.1\r\nHost: localhost\r\nX: "
	return []attack{
		{name: "slow/bodies", does: "Sends 400 bodies byte by byte, without permission.", answers: 400, forbidden: true,
			run: dribble(400, body(stranger))},
		{name: "slow/bodies-http2", does: "Begins 1,000 bodies on 10 HTTP/2 connections and doesn't send them.",
			forbidden: true, answers: 100, run: hundred(10, false, "POST", configMaps, stranger)},
		{name: "slow/bodies-authorized", does: "Does the same with permission to create the objects.",
			run: hundred(10, false, "POST", configMaps, attacker)},
		{name: "slow/halves", does: "Sends 400 bodies of 3 MB without the last byte.",
			run: dribble(400, body(attacker)+strings.Repeat(" ", 2_990_000))},
		{name: "slow/headers", does: "Sends 400 headers byte by byte, without credentials.", run: dribble(400, begun)},
		{name: "slow/long-headers", does: "Sends headers of 200 KB without their end on 4,000 connections.", long: true,
			run: dribble(4000, begun+strings.Repeat("x", long))},
		{name: "slow/connections", does: "Opens 8,000 connections, sends a request on each, and keeps them.", long: true,
			answers: 1000, forbidden: true, run: dribble(8000, "GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n")},
		{name: "slow/lists", does: "Requests a list of 20 MB on 600 connections and doesn't read it.", answers: 100,
			setup: filled(40, 512<<10), run: dribble(600, get(configMaps))},
		{name: "slow/old-lists", does: "Does the same, and changes the listed objects.", answers: 100, long: true,
			setup: filled(40, 512<<10), run: both(dribble(400, get(configMaps)), rewrite(40, 512<<10))},
		{name: "slow/watches", does: "Opens 200 watches that it doesn't read, and changes an object of 100 KB.",
			answers: 100, long: true, run: both(dribble(200, get(configMaps+"?watch=1")), rewrite(1, 100<<10))},
	}
}

// watches returns attacks with watches that are costly for the server.
func watches() []attack {
	terms := configMaps + "?watch=1&labelSelector=" + items(8000, func(i int) string { return fmt.Sprintf("!k%d", i) })
	watching := head("GET", configMaps+"?watch=1", attacker)
	return []attack{
		{name: "watches/terms", does: "Opens 1,000 watches whose selectors have 8,000 terms, as many as are allowed.",
			answers: 50, long: true, run: dribble(1000, head("GET", terms, attacker)+"\r\n")},
		{name: "watches/headers", does: "Opens 2,000 watches with headers of 200 KB.", answers: 200, long: true,
			run: dribble(2000, watching+"X: "+strings.Repeat("x", long)+"\r\n\r\n")},
		{name: "watches/tables", does: "Opens 1,000 watches of Tables, doesn't read them, and changes an object of 900 KB.",
			answers: 200, long: true, run: both(dribble(1000, head("GET", configMaps+"?watch=1&includeObject=Object",
				attacker)+"Accept: "+tables+"\r\n\r\n"), rewrite(1, 900<<10))},
		{name: "watches/sockets", does: "Does the same over WebSockets, of objects.", answers: 200, long: true,
			run: both(dribble(1000, watching+"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
				"Sec-WebSocket-Key: YXR0YWNraW5nYXR0YWNraQ==\r\n\r\n"), rewrite(1, 900<<10))},
		{name: "watches/many", does: "Opens and reads 2,000 watches, and changes an object all the time.", answers: 1000,
			long: true, run: both(flood(attacker, 2000, same(request{method: "GET", path: configMaps + "?watch=1"})),
				rewrite(1, 100))},
	}
}

// floods returns attacks with many requests.
func floods() []attack {
	get := request{method: "GET", path: configMaps + "/c0"}
	list := request{method: "GET", path: configMaps}
	return []attack{
		{name: "floods/gets", does: "Gets an object on 200 connections.", answers: 200, setup: filled(1, 100),
			run: flood(attacker, 200, same(get))},
		{name: "floods/forbidden", does: "Sends requests without permission on 200 connections.", answers: 200, forbidden: true,
			run: flood(stranger, 200, same(list))},
		{name: "floods/creates", does: "Creates small objects on 200 connections.", answers: 200,
			run: flood(attacker, 200, func(client, turn int) request {
				body := fmt.Sprintf(`{"metadata":{"name":"n-%d-%d"}}`, client, turn)
				return request{method: "POST", path: configMaps, body: body}
			})},
		{name: "floods/lists", does: "Lists 500 objects of 10 KB on 200 connections.", answers: 100, long: true,
			setup: filled(500, 10<<10), run: flood(attacker, 200, same(list))},
		{name: "floods/long-lists", does: "Lists 100,000 objects on 100 connections, half of them as Tables.", answers: 4,
			long: true, setup: filled(100_000, 100), run: flood(attacker, 100, func(client, _ int) request {
				return request{method: "GET", path: configMaps, accept: []string{"", tables}[client%2]}
			})},
	}
}

// connections returns attacks with connections on which the server can't send.
func connections() []attack {
	pipeline := func(_ context.Context, _ *mallory, c net.Conn) (err error) {
		for batch := strings.Repeat(head("GET", configMaps+"/c0", attacker)+"\r\n", 1000); err == nil; {
			_, err = io.WriteString(c, batch)
		}
		return err
	}
	return []attack{
		{name: "connections/pipelining", does: "Sends requests on 50 HTTP/1.1 connections without reading a response.",
			setup: filled(1, 100<<10), run: connect(50, "http/1.1", pipeline)},
		{name: "connections/rapid-reset", does: "Opens and resets streams on 8 connections as fast as it can.",
			forbidden: true, run: streams(8, reset)},
		{name: "connections/unended", does: "Begins 1,000 requests with bodies, and never ends them.", forbidden: true,
			run: hundred(10, false, "POST", review, stranger, "content-type", "application/json", "content-length", "0")},
		{name: "connections/bodies", does: "Sends a body of 1 MB and another request on each of 4,000 connections.",
			long: true, forbidden: true, run: streams(4000, ahead)},
		{name: "connections/responses", does: "Makes 100 requests on each of 2,500 connections, and reads no response.",
			long: true, answers: 100, run: hundred(2500, true, "GET", configMaps, attacker)},
		{name: "connections/headers", does: "Makes 100 requests with headers of 200 KB on each of 400 connections.",
			long: true, forbidden: true, answers: 1,
			run: hundred(400, true, "GET", configMaps, stranger, "x-long", strings.Repeat("~", long))},
	}
}

// admission returns attacks on webhooks and policies of an administrator, which must admit requests. The attacker can't
// configure any.
func admission() []attack {
	allowed := func(w http.ResponseWriter, _ *http.Request, uid string) { allow(w, uid, "") }
	warning := func(w http.ResponseWriter, _ *http.Request, uid string) {
		allow(w, uid, `,"warnings":[`+many(2_500_000, `""`)+`]`)
	}
	flooding := func(w http.ResponseWriter, _ *http.Request, uid string) {
		piece := strings.Repeat(" ", 1<<20)
		for range 200 {
			if _, err := io.WriteString(w, piece); err != nil {
				return // the server has closed the connection
			}
		}
		allow(w, uid, "")
	}
	silent := func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }
	const small = `{"metadata":{"generateName":"c"}}`
	return []attack{
		{name: "admission/objects", does: "Creates, as a dry run, objects of 700 KB: 20 webhooks admit each.",
			answers: 8, setup: defined(anything),
			run: hooked(20, allowed, post(32, things+dry, thing(`"`+strings.Repeat("x", 700_000)+`"`)))},
		{name: "admission/collections", does: "Deletes, as a dry run, 40 objects of 512 KB on 32 connections.", answers: 2,
			long: true, setup: filled(40, 512<<10),
			run: hooked(20, allowed, flood(attacker, 32, same(request{method: "DELETE", path: configMaps + dry})))},
		{name: "admission/responses", does: "Creates objects; broken webhooks return 200 MB for each.", answers: 8,
			long: true, run: hooked(20, flooding, post(32, configMaps, small))},
		{name: "admission/warnings", does: "Creates objects; broken webhooks return 2.5 million warnings.",
			answers: 8, long: true, run: hooked(20, warning, post(32, configMaps, small))},
		{name: "admission/slow", does: "Creates objects on 400 connections; a webhook does not respond.",
			answers: 1, long: true, run: hooked(1, silent, post(400, configMaps, small))},
	}
}

// thing returns a custom resource with a list.
func thing(list string) string {
	return `{"apiVersion":"attack.test/v1","kind":"Thing","metadata":{"name":"t"},"list":` + list + `}`
}

// defined defines the custom resource with the schema and waits until it is served.
func defined(schema string) func(context.Context, target) error {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	return func(ctx context.Context, t target) error {
		err := t.create(ctx, [2]string{path, `{"metadata":{"name":"things.attack.test"},"spec":{"group":"attack.test",
			"scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`})
		if err != nil {
			return err
		}
		c := t.client(admin, true)
		for pause(ctx, 20*time.Millisecond) { // no event reports that a type is served
			if _, err := c.want(ctx, http.StatusOK, request{method: "GET", path: things}); err == nil {
				return nil
			}
		}
		return ctx.Err()
	}
}

// filled creates n ConfigMaps with a value of a size.
func filled(n, size int) func(context.Context, target) error {
	return func(ctx context.Context, t target) error {
		c, value := t.client(admin, true), strings.Repeat("x", size)
		var all errgroup.Group
		all.SetLimit(8)
		for i := range n {
			all.Go(func() error {
				_, err := c.want(ctx, http.StatusCreated, request{method: "POST", path: configMaps,
					body: fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"k":%q}}`, i, value)})
				return err
			})
		}
		return all.Wait()
	}
}

// rewrite returns an attack that repeatedly applies n ConfigMaps of a size.
func rewrite(n, size int) runner {
	value := strings.Repeat("x", size)
	return flood(attacker, min(n, 4), func(client, turn int) request {
		i := (turn*4 + client) % n
		return request{method: "PATCH", path: fmt.Sprintf("%s/c%d?fieldManager=m&force=true", configMaps, i),
			media: "application/apply-patch+yaml", body: fmt.Sprintf(
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"k":"%d%s"}}`, i, turn, value)}
	})
}

func many(n int, item string) string { return strings.Repeat(item+",", n-1) + item }

func items(n int, item func(i int) string) string {
	all := make([]string, n)
	for i := range n {
		all[i] = item(i)
	}
	return strings.Join(all, ",")
}

// bomb returns YAML in which each line refers twice to the line before.
func bomb(lines int) string {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a0: &a0 x\n"
	for i := range lines {
		text += fmt.Sprintf("  a%d: &a%[1]d [*a%[2]d, *a%[2]d]\n", i+1, i)
	}
	return text
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
