package tests

// badIdentities claim to be another user.
func badIdentities() []bad {
	const review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	as := func(what string, code int, header ...string) bad {
		return bad{what: what, user: stranger, method: "POST", path: review, body: "{}", header: header, code: code}
	}
	visit := func(what, method, path, body string, header ...string) bad {
		return bad{what: what, method: method, path: path, body: body, header: header, plain: true, code: 403}
	}
	basic := "Authorization: Basic " + "YWRtaW46YWRtaW4tdG9rZW4="
	return []bad{
		{what: "no credentials", method: "GET", path: secret, code: 403},
		{what: "a wrong token", method: "GET", path: secret, header: []string{"Authorization: Bearer x"}, code: 401},
		{what: "a token with a NUL", method: "GET", path: secret, code: 400,
			header: []string{"Authorization: Bearer admin-token\x00"}},
		{what: "a token in the query", method: "GET", code: 403,
			path: secret + "?access_token=" + token(admin) + "&token=" + token(admin)},
		{what: "a token in a cookie", method: "GET", path: secret, code: 403,
			header: []string{"Cookie: token=" + token(admin)}},
		{what: "a token as a password", method: "GET", path: secret, header: []string{basic}, code: 401},
		{what: "an unsigned token", method: "GET", path: secret, code: 401,
			header: []string{
				"Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6a3ViZS1zeXN0ZW06eCJ9.",
			}},
		{what: "two tokens", method: "GET", path: secret, code: 401,
			header: []string{"Authorization: Bearer " + token(attacker), "Authorization: Bearer " + token(admin)}},
		{what: "a front proxy's headers", method: "GET", path: secret, code: 403,
			header: []string{"X-Remote-User: admin", "X-Remote-Group: system:masters"}},
		as("another user", 403, "Impersonate-User: admin"),
		as("another group", 403, "Impersonate-User: bob", "Impersonate-Group: system:masters"),
		as("another extra", 403, "Impersonate-User: bob", "Impersonate-Extra-Scopes: all"),
		as("another UID", 403, "Impersonate-User: bob", "Impersonate-Uid: 1"),
		as("a service account", 403, "Impersonate-User: system:serviceaccount:kube-system:generic-garbage-collector"),
		as("a node", 403, "Impersonate-User: system:node:n"),
		as("a group without a user", 400, "Impersonate-Group: system:masters"),
		as("two users", 400, "Impersonate-User: bob", "Impersonate-User: admin"),
		visit("a page's form", "POST", configMaps, `{"metadata":{"name":"x"}}`, "Origin: http://evil.test"),
		visit("a page's fetch", "DELETE", configMaps+"/c", "", "Sec-Fetch-Site: cross-site"),
		visit("a sandboxed page", "POST", configMaps, `{"metadata":{"name":"x"}}`, "Origin: null"),
		visit("a name that was made to point here", "GET", secret, "", "Host: evil.test"),
		visit("the same with a port", "GET", secret, "", "Host: localhost.evil.test:8080"),
		{what: "a page's WebSocket", plain: true, code: 403, raw: "GET /api/v1/secrets?watch=1 HTTP/1.1\n" +
			"Host: localhost\nOrigin: http://evil.test\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n" +
			"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\n\n"},
	}
}

// badRights take or give what the stranger doesn't hold.
func badRights() []bad {
	const authorization = `"apiGroup":"rbac.authorization.k8s.io"`
	secrets := `[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]`
	binding := `{"metadata":{"name":"b"},"roleRef":{` + authorization + `,"kind":"ClusterRole","name":"cluster-admin"},
		"subjects":[{` + authorization + `,"kind":"User","name":"` + stranger + `"}]}`
	role := func(name, rules string) string { return `{"metadata":{"name":"` + name + `"},"rules":` + rules + `}` }
	do := func(what, method, path, body string) bad {
		b := bad{what: what, user: stranger, method: method, path: path, body: body, code: 403}
		if method == "PATCH" {
			b.media = "application/merge-patch+json"
		}
		return b
	}
	applied := do("a role by apply", "PATCH", rbac+"/namespaces/attack/roles/new?fieldManager=m",
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"new"},"rules":`+secrets+`}`)
	applied.media = "application/apply-patch+yaml"
	created := do("an object by apply", "PATCH", configMaps+"/new?fieldManager=m",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}`)
	created.media = "application/apply-patch+yaml"
	return []bad{
		do("a role", "POST", rbac+"/namespaces/attack/roles", role("new", secrets)),
		do("a role of all", "POST", rbac+"/clusterroles",
			role("new", `[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]`)),
		do("a role of paths", "POST", rbac+"/clusterroles", role("new", `[{"verbs":["get"],"nonResourceURLs":["*"]}]`)),
		do("a role of a subresource", "POST", rbac+"/namespaces/attack/roles",
			role("new", `[{"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]}]`)),
		do("more in a role by PUT", "PUT", rbac+"/namespaces/attack/roles/mine", role("mine", secrets)),
		do("more in a role by PATCH", "PATCH", rbac+"/namespaces/attack/roles/mine", `{"rules":`+secrets+`}`),
		applied,
		do("a role that is aggregated", "POST", rbac+"/clusterroles",
			`{"metadata":{"name":"new","labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}},"rules":`+
				secrets+`}`),
		do("a role that aggregates others", "POST", rbac+"/clusterroles",
			`{"metadata":{"name":"new"},"aggregationRule":{"clusterRoleSelectors":[{}]}}`),
		do("a strong role's label", "PATCH", rbac+"/clusterroles/strong",
			`{"metadata":{"labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}}}`),
		do("a binding", "POST", rbac+"/clusterrolebindings", binding),
		do("a binding in a namespace", "POST", rbac+"/namespaces/attack/rolebindings", binding),
		do("oneself in a binding", "PATCH", rbac+"/clusterrolebindings/cluster-admin",
			`{"subjects":[{`+authorization+`,"kind":"User","name":"`+stranger+`"}]}`),
		do("deleting a role", "DELETE", rbac+"/clusterroles/strong", ""),
		do("a dry run", "DELETE", configMaps+"/c?dryRun=All", ""),
		do("deleting a collection", "DELETE", configMaps, ""),
		do("an object by PUT", "PUT", namespaces+"/attack/endpoints/new", `{"metadata":{"name":"new"}}`),
		created,
		do("a service account's token", "POST", namespaces+
			"/kube-system/serviceaccounts/generic-garbage-collector/token", `{}`),
		do("a certificate's approval", "PUT", "/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval",
			`{"metadata":{"name":"x"}}`),
		do("another user's rights", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
			`{"spec":{"user":"admin","nonResourceAttributes":{"path":"/","verb":"get"}}}`),
		do("a CRD", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"a.b"}}`),
		do("a namespace's end", "PUT", attacked+"/finalize", `{"metadata":{"name":"attack"}}`),
		do("a webhook", "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
			`{"metadata":{"name":"x"}}`),
	}
}
