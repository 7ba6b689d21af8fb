package authentication

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

type present struct{}

func (present) Bound(string, string, string) (string, time.Time, bool) { return "1", time.Time{}, true }

// TestLongTokensAreNotCached: a user who may create tokens can't fill the memory with long ones.
func TestLongTokensAreNotCached(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAccounts(AccountsConfig{Issuers: []string{"i"}, Signer: key})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for audience, remembered := range map[string]int{strings.Repeat("x", longestVerified): 0, "x": 1} {
		token, err := a.Issue(authorization.TokenClaim{
			Namespace: "n", Name: "a", UID: "1", Audiences: []string{"i", audience}, Issued: now, Expires: now.Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		clear(a.verified)
		for range 2 {
			if _, _, err := a.Verify(token, nil, now, present{}); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.verified) != remembered {
			t.Errorf("a token of %d bytes: %d tokens are cached", len(token), len(a.verified))
		}
	}
}
