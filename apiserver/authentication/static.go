package authentication

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Tokens are the static bearer tokens of a file. Only their digests are kept, so that the time of a look-up reveals
// nothing about them.
type Tokens map[[sha256.Size]byte]authorization.User

// ParseTokens parses kube-apiserver's token file, a CSV file. A line has a token, the user's name, the UID and,
// optionally, the groups, separated by commas in one field. Lines without a token are skipped. Of lines with the same
// token, the last counts (AS pkg/authentication/token/tokenfile). Errors have line numbers, but never the content.
func ParseTokens(r io.Reader) (Tokens, error) {
	t := Tokens{}
	lines := csv.NewReader(r)
	lines.FieldsPerRecord = -1
	for {
		f, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("line %d, column %d: %w", bad.Line, bad.Column, bad.Err)
		}
		if err != nil {
			return nil, err
		}
		line, _ := lines.FieldPos(0)
		if len(f) < 3 {
			return nil, fmt.Errorf("line %d has %d fields; it must have a token, a user's name and a UID", line, len(f))
		}
		if f[0] == "" {
			continue
		}
		u := authorization.User{Name: f[1], UID: f[2]}
		if len(f) > 3 {
			u.Groups = strings.Split(f[3], ",")
		}
		t[sha256.Sum256([]byte(f[0]))] = authenticated(u)
	}
}

// User returns the user of a token.
func (t Tokens) User(token string) (authorization.User, bool) {
	u, ok := t[sha256.Sum256([]byte(token))]
	return u, ok
}
