package tests

import "strings"

// badPaths are those of a secret that the attacker may not read, or of nothing. Segments are read as upstream does
// (0-17): those of the unescaped path. A path that is not clean names nothing.
func badPaths() (all []bad) {
	add := func(code int, paths ...string) {
		for _, path := range paths {
			all = append(all, bad{what: path, user: attacker, method: "GET", path: path, code: code})
		}
	}
	add(403, secret, secret+"/", secret+"?watch=0", namespaces+"/other/secrets", "/api/v1/secrets",
		"/api/v1/secrets?watch=1",
		"/api/v1/watch/secrets", "/api/v1/watch/namespaces/other/secrets/hidden",
		"/api/v1/namespaces/%6fther/secrets/hidden",
		"/api/v1/secrets?fieldSelector=metadata.namespace%3Dattack",
		"/api/v1/secrets?fieldSelector=metadata.name%3Dhidden",
		namespaces+"/other", namespaces, "/metrics", "/debug/pprof/",
		"/debug/controllers/garbage-collector-controller/graph",
		secret+";x=y", "/api/v1/proxy/namespaces/other/secrets/hidden",
		"/healthz/../api/v1/namespaces/other/secrets/hidden",
		"//api/v1/namespaces/other/secrets/hidden", "/API/v1/namespaces/other/secrets/hidden",
		"/./api/v1/namespaces/other/secrets/hidden",
		"/api/v1/namespaces/%2e%2e/secrets/hidden", "/api/v1//namespaces/other/secrets/hidden",
		"/api/v1/namespaces//other/secrets/hidden",
		"/api%2fv1/namespaces/other/secrets/hidden", "/api/v1/namespaces/finalize/../other/secrets/hidden")
	add(400, attacked+"/secrets/%2e%2e", attacked+"/secrets/x%252fy")
	add(404, "/api/v1/namespaces/attack/../other/secrets/hidden",
		"/api/v1/namespaces/attack%2f..%2fother/secrets/hidden", attacked+"/secrets/hidden%00",
		"/api/v1/namespaces/attack/secrets%2f..%2f..%2fother%2fsecrets/hidden",
		attacked+"/secrets/..%2f..%2fother%2fsecrets%2fhidden", attacked+"/secrets/other%2fhidden",
		attacked+"/pods/x%2fy/eviction",
		attacked+"/secrets/hidden?namespace=other",
		"/openapi/v3/..%2f..%2fapi/v1/namespaces/other/secrets/hidden")
	long := bad{what: "a path of 2 MB", user: attacker, method: "GET", code: 431,
		path: configMaps + "?x=" + strings.Repeat("x", 2<<20)}
	return append(all, long,
		bad{what: "a path of another form", user: attacker, method: "GET", path: "api/v1/secrets", code: 400},
		bad{what: "an unfinished escape", user: attacker, method: "GET", path: secret + "%2", code: 400},
		bad{what: "a method in lower case", user: attacker, method: "get", path: secret, code: 403},
		bad{what: "a method of no use", user: attacker, method: "TRACE", path: configMaps + "/c", code: 405},
		bad{what: "a tunnel", user: attacker, method: "CONNECT", path: configMaps + "/c", code: 405},
		bad{what: "a forged continue token", user: attacker, method: "GET", code: 400,
			path: configMaps +
				"?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi9vdGhlci9zZWNyZXRzL2hpZGRlbiJ9"},
		bad{what: "a selector that is none", user: attacker, method: "GET", path: configMaps + "?labelSelector=%ff",
			code: 400},
		bad{what: "a negative revision", user: attacker, method: "GET", path: configMaps + "?resourceVersion=-1",
			code: 400},
	)
}
