package filters

import "testing"

func TestLoopbackHost(t *testing.T) {
	for host, want := range map[string]bool{
		"": true, "localhost": true, "localhost:8080": true, "127.0.0.1:8080": true, "127.9.9.9": true, "[::1]:8080": true,
		"[::1]":        true,
		"evil.example": false, "evil.example:8080": false, "10.0.0.1:8080": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false,
	} {
		if got := loopbackHost(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
