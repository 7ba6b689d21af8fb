// Package apiservertest starts whole API servers for tests: the real handler on a real port, with a real cache and a
// real but temporary etcd.
//
//	s := apiservertest.Start(t, nil)
//	a := s.Do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
//	if a.Code != http.StatusCreated { ... }
//
// It guarantees:
//
//  1. When Start returns, the server accepts requests, and the namespace "default" exists.
//  2. Servers share nothing, except for a store that the test passes to several of them.
//  3. When the test ends, first the watches end, and then the port, the cache and the store are closed. Warnings and
//     errors in the server's log are in the test's log.
package apiservertest
