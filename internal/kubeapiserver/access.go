package kubeapiserver

// authentication are the flags of K pkg/kubeapiserver/options/authentication.go and AS
// pkg/server/options/authentication.go.
func authentication() section {
	return section{"authentication", append([]entry{
		{
			name: "anonymous-auth", kind: "bool", def: "true", usage: "treat requests without credentials as system:anonymous",
			act: yes(func(s *Settings) *bool { return &s.anonymous }),
		},
		{
			name: "api-audiences", kind: "stringSlice", usage: "accepted audiences of tokens (default the first issuer)",
			act: list(func(s *Settings) *[]string { return &s.Options.Access.Audiences }),
		},
		{
			name: "authentication-config", kind: "string",
			usage: "file with the configuration of JWT and anonymous authentication",
		},
		{
			name: "authentication-token-webhook-cache-ttl", kind: "duration", def: "2m0s",
			usage: "how long answers of the webhook for tokens are valid",
		},
		{
			name: "authentication-token-webhook-config-file", kind: "string",
			usage: "kubeconfig of a webhook that verifies tokens",
		},
		{
			name: "authentication-token-webhook-version", kind: "string", def: "v1beta1",
			usage: "API version of the webhook that verifies tokens",
		},
		{
			name: "client-ca-file", kind: "string", usage: "file with the CA certificates that verify client certificates",
			act: text(func(s *Settings) *string { return &s.Options.Access.ClientCAFile }),
		},
		{name: "enable-bootstrap-token-auth", kind: "bool", def: "false", usage: "accept the tokens of bootstrap secrets"},
		{name: "oidc-ca-file", kind: "string", usage: "file with the CA certificates of the OpenID issuer"},
		{name: "oidc-client-id", kind: "string", usage: "client ID that OpenID tokens must be issued for"},
		{name: "oidc-groups-claim", kind: "string", usage: "claim of OpenID tokens with the groups"},
		{name: "oidc-groups-prefix", kind: "string", usage: "prefix of groups from OpenID tokens"},
		{name: "oidc-issuer-url", kind: "string", usage: "URL of the OpenID issuer"},
		{
			name: "oidc-required-claim", kind: "mapStringStringNoSplit",
			usage: "claim that OpenID tokens must have, as key=value",
		},
		{name: "oidc-signing-algs", kind: "stringSlice", def: "RS256", usage: "accepted signing algorithms of OpenID tokens"},
		{name: "oidc-username-claim", kind: "string", def: "sub", usage: "claim of OpenID tokens with the user name"},
		{name: "oidc-username-prefix", kind: "string", usage: "prefix of user names from OpenID tokens"},
		{
			name: "requestheader-allowed-names", kind: "stringSlice",
			usage: "common names of the client certificates of proxies that may name the user; empty allows all",
			act:   list(func(s *Settings) *[]string { return &s.Options.Access.RequestHeader.AllowedNames }),
		},
		{
			name: "requestheader-client-ca-file", kind: "string",
			usage: "file with the CA certificates that verify proxies that name the user",
			act:   text(func(s *Settings) *string { return &s.Options.Access.RequestHeader.ClientCAFile }),
		},
		{
			name: "requestheader-extra-headers-prefix", kind: "stringSlice",
			usage: "prefixes of headers in which proxies name the user's extra fields",
			act:   list(func(s *Settings) *[]string { return &s.Options.Access.RequestHeader.ExtraHeadersPrefix }),
		},
		{
			name: "requestheader-group-headers", kind: "stringSlice", usage: "headers in which proxies name the groups",
			act: list(func(s *Settings) *[]string { return &s.Options.Access.RequestHeader.GroupHeaders }),
		},
		{
			name: "requestheader-uid-headers", kind: "stringSlice", usage: "headers in which proxies name the UID",
			act: list(func(s *Settings) *[]string { return &s.Options.Access.RequestHeader.UIDHeaders }),
		},
		{
			name: "requestheader-username-headers", kind: "stringSlice", usage: "headers in which proxies name the user",
			act: list(func(s *Settings) *[]string { return &s.Options.Access.RequestHeader.UsernameHeaders }),
		},
		{
			name: "token-auth-file", kind: "string", usage: "CSV file with static bearer tokens: token,user,uid,\"group,group\"",
			act: text(func(s *Settings) *string { return &s.Options.Access.TokenFile }),
		},
	}, accounts()...)}
}

// accounts are the flags of service account tokens; K pkg/controlplane/apiserver/options/options.go has some of them.
func accounts() []entry {
	return []entry{
		{
			name: "service-account-extend-token-expiration", kind: "bool", def: "true",
			usage: "extend the lifetime of tokens that are mounted into pods",
		},
		{
			name: "service-account-issuer", kind: "stringArray",
			usage: "accepted issuer of service account tokens; new tokens have the first; may be repeated",
			act:   list(func(s *Settings) *[]string { return &s.Options.Access.Issuers }),
		},
		{
			name: "service-account-jwks-uri", kind: "string",
			usage: "URL of the public keys of service account tokens, for the OpenID configuration",
			act:   text(func(s *Settings) *string { return &s.Options.Access.KeysURL }),
		},
		{
			name: "service-account-key-file", kind: "stringArray",
			usage: "file with keys that verify service account tokens; may be repeated",
			act:   list(func(s *Settings) *[]string { return &s.Options.Access.KeyFiles }),
		},
		{
			name: "service-account-lookup", kind: "bool", def: "true",
			usage: "reject tokens of service accounts that do not exist",
		},
		{
			name: "service-account-max-token-expiration", kind: "duration", def: "0s",
			usage: "maximum lifetime of service account tokens",
		},
	}
}

// authorization are the flags of K pkg/kubeapiserver/options/authorization.go.
func authorization() section {
	return section{"authorization", []entry{
		{name: "authorization-config", kind: "string", usage: "file with the configuration of authorizers"},
		{
			name: "authorization-mode", kind: "stringSlice",
			usage: "ordered list of authorization modes (default AlwaysAllow): AlwaysAllow, AlwaysDeny, RBAC; Node has no effect",
			act:   list(func(s *Settings) *[]string { return &s.Options.Access.Modes }),
		},
		{name: "authorization-policy-file", kind: "string", usage: "file with the policy of mode ABAC"},
		{
			name: "authorization-webhook-cache-authorized-ttl", kind: "duration", def: "5m0s",
			usage: "how long permissions of the webhook are valid",
		},
		{
			name: "authorization-webhook-cache-unauthorized-ttl", kind: "duration", def: "30s",
			usage: "how long denials of the webhook are valid",
		},
		{name: "authorization-webhook-config-file", kind: "string", usage: "kubeconfig of the webhook of mode Webhook"},
		{
			name: "authorization-webhook-version", kind: "string", def: "v1beta1",
			usage: "API version of the webhook of mode Webhook",
		},
	}}
}
