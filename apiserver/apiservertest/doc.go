// Package apiservertest starts whole API servers for tests: the real handler on a real, ephemeral etcd and a real
// cache, with a real port.
//
//	s := apiservertest.Start(t, nil)
//	a := s.Do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
//	if a.Code != http.StatusCreated { ... }
//
// It guarantees:
//
//  1. When Start returns, the server accepts requests, and the namespace "default" exists.
//  2. Servers share nothing but a store that the test passes to several of them.
//  3. When the test ends, watches are ended, and then the port, the cache and the store are closed. Warnings and errors
//     in the server's log are in the test's log.
package apiservertest
