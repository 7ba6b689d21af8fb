package tests

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
)

// badMessages are read in two ways by servers that are one behind the other, or are none.
func badMessages() []bad {
	head := "Host: localhost\nAuthorization: Bearer " + token(attacker) + "\n"
	second := "DELETE " + configMaps + "/c HTTP/1.1\nHost: localhost\nAuthorization: Bearer " + token(admin) + "\n\n"
	get := "GET " + configMaps + " HTTP/1.1\n" + head
	post := "POST " + configMaps + " HTTP/1.1\n" + head + "Content-Type: application/json\n"
	object := `{"metadata":{"name":"smuggled"}}`
	return []bad{
		{what: "two lengths", raw: post + "Content-Length: 0\nContent-Length: 32\n\n" + object + second, code: 400},
		{what: "a negative length", raw: post + "Content-Length: -1\n\n" + second, code: 400},
		{what: "a length with a sign", raw: post + "Content-Length: +32\n\n" + object, code: 400},
		{what: "a length that is too large to count", raw: post + "Content-Length: 99999999999999999999\n\n" + object,
			code: 400},
		{what: "an unknown encoding", raw: post + "Transfer-Encoding: chunked, identity\n\n0\n\n" + second, code: 501},
		{what: "two encodings", raw: post + "Transfer-Encoding: chunked\nTransfer-Encoding: identity\n\n0\n\n" +
			second, code: 501},
		{what: "a space before a colon", raw: get + "Transfer-Encoding : chunked\n\n0\n\n" + second, code: 400},
		{what: "a chunk's size that is none", raw: post + "Transfer-Encoding: chunked\n\nzz\n" + object + "\n0\n\n",
			code: 400},
		{what: "a chunk's size that is too large", raw: post + "Transfer-Encoding: chunked\n\nfffffffffffffffff\n" +
			object + "\n0\n\n", code: 400},
		{what: "a folded header", raw: "GET " + secret + " HTTP/1.1\n" + head +
			"X:\n Authorization: Bearer admin-token\n\n", code: 403},
		{what: "a line's end in a value", raw: "GET " + secret + " HTTP/1.1\n" + head +
			"X: a\rImpersonate-User: admin\n\n", code: 400},
		{what: "a NUL in a value", raw: get + "X: a\x00b\n\n", code: 400},
		{what: "a header without a name", raw: get + ": x\n\n", code: 400},
		{what: "a space in the path", raw: "GET /healthz " + secret + " HTTP/1.1\n" + head + "\n", code: 400},
		{what: "two hosts", raw: get + "Host: other\n\n", code: 400},
		{what: "no host", raw: "GET " + secret + " HTTP/1.1\nAuthorization: Bearer admin-token\n\n", code: 400},
		{what: "an unknown version", raw: "GET " + secret + " HTTP/3.0\n" + head + "\n", code: 505},
		{what: "no request", raw: strings.Repeat("\x16\x03\x01", 100) + "\n\n", code: 400},
		{what: "a header of 2 MB", user: attacker, method: "GET", path: configMaps, code: 431,
			header: []string{"X: " + strings.Repeat("x", 2<<20)}},
		{what: "headers of 2 MB", user: attacker, method: "GET", path: configMaps, code: 431,
			header: slices.Repeat([]string{"X: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}, 50_000)},
		{what: "an expectation", user: attacker, method: "POST", path: configMaps, body: object,
			header: []string{"Expect: something"}, code: 417},
		{what: "half a body", raw: post + "Content-Length: 100\n\n" + object, code: 400},
	}
}

// badBodies are sent by a user who may create what they claim to be.
func badBodies() []bad {
	const yaml, protobuf, jsonPatch = "application/yaml", "application/vnd.kubernetes.protobuf",
		"application/json-patch+json"
	post := func(what, media, body string, code int) bad {
		return bad{what: what, user: attacker, method: "POST", path: configMaps, media: media, body: body, code: code}
	}
	patch := func(what, media, body string, code int) bad {
		return bad{what: what, user: attacker, method: "PATCH", path: configMaps + "/c", media: media, body: body,
			code: code}
	}
	with := func(b bad, header ...string) bad {
		b.header = header
		return b
	}
	named := func(name string) string { return `{"metadata":{"name":"` + name + `"}}` }
	const kinds = `"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}`
	applied := patch("an apply that bombs", "application/apply-patch+yaml", bomb(30), 400)
	applied.path += "?fieldManager=m"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, named("x"), strings.Repeat(" ", 100<<20)) // a buffer takes everything
	_ = z.Close()
	return []bad{
		post("JSON that is nested 100,000 deep", "", `{`+kinds+`,"data":`+nested(100_000)+`}`, 400),
		post("JSON that doesn't end", "", strings.Repeat(`{"a":`, 100_000), 400),
		post("a string that doesn't end", "", `{"metadata":{"name":"x`, 400),
		post("two objects", "", named("x")+named("y"), 400),
		post("a huge number", "", `{"metadata":{"name":"x","generation":1e999}}`, 400),
		post("no JSON", "", "x", 400),
		post("a list", "", "[]", 400),
		post("a NUL in a name", "", named(`a\u0000b`), 422),
		post("a slash in a name", "", named(`../../secrets/hidden`), 422),
		post("a dot as a name", "", named(`..`), 422),
		post("a name of a megabyte", "", named(strings.Repeat("x", 1<<20)), 422),
		post("invalid UTF-8 in a name", "", named("a\xff"), 422),
		post("a key that is a path", "", `{"metadata":{"name":"x"},"data":{"../x":"y"}}`, 422),
		post("another namespace", "", `{"metadata":{"name":"x","namespace":"other"}}`, 400),
		post("another kind", "", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, 400),
		post("more than 3 MiB", "", `{"metadata":{"name":"x"}}`+strings.Repeat(" ", 3<<20), 413),
		post("an object of 2.9 MB", "", `{"metadata":{"name":"x"},"data":{"k":"`+strings.Repeat("x", 2_900_000)+`"}}`,
			422),
		post("a YAML bomb", yaml, bomb(30), 400),
		post("YAML of itself", yaml, "metadata: {name: x}\ndata: &a {x: *a}\n", 400),
		post("YAML that is nested 100,000 deep", yaml, strings.Repeat("- ", 100_000), 400),
		post("YAML with a long alias", yaml, "a: &a "+strings.Repeat("x", 1<<20)+"\nb: ["+
			strings.Repeat("*a,", 100_000)+"]\n", 400),
		post("YAML of another language", yaml, "!!python/object/apply:os.system [x]", 400),
		post("protobuf that is none", protobuf, "k8s\x00\xff\xff\xff\xff", 400),
		post("an unknown media type", "application/x-www-form-urlencoded", "a=b", 415),
		with(post("a gzip bomb", "", zipped.String(), 400), "Content-Encoding: gzip"),
		post("a path's other name", "", `{"metadata":{"name":"x","generateName":"`+strings.Repeat("x", 1000)+
			`","namespace":"attack/../other"}}`, 400),
		patch("10,001 operations", jsonPatch,
			"["+items(10_001, func(int) string { return `{"op":"test","path":"/x"}` })+"]", 413),
		patch("copies that double", jsonPatch,
			"["+items(40, func(int) string { return `{"op":"copy","from":"/data","path":"/data/x"}` })+"]", 422),
		patch("a patch that is nested 100,000 deep", "application/merge-patch+json", `{"data":`+
			strings.Repeat(`{"a":`, 100_000)+"1"+strings.Repeat("}", 100_000)+"}", 400),
		patch("a patch of the name", "application/merge-patch+json", named("d"), 400),
		patch("a patch of the UID", "application/merge-patch+json", `{"metadata":{"uid":"x"}}`, 422),
		patch("a patch of another version", "application/merge-patch+json", `{"metadata":{"resourceVersion":"1"}}`,
			409),
		applied,
		patch("an unknown patch", "application/json", "{}", 415),
	}
}
