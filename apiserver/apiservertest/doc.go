// Package apiservertest starts whole API servers for tests: the real handler over a real, ephemeral
// etcd and a real cache, behind a real port.
//
//	s := apiservertest.Start(t, nil)
//	a := s.Do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
//	if a.Code != http.StatusCreated { ... }
//
// It guarantees:
//
//  1. When Start returns, the server answers, and the namespace "default" exists.
//  2. Nothing is shared between servers, but a store that the test gives to several.
//  3. When the test ends, watches are ended, and then the port, the cache and the store are closed.
//     What the server logs as a warning or an error is in the test's log.
package apiservertest
