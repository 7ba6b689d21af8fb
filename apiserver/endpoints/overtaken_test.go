package endpoints_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage"
)

// intercepted is a store that calls before with each transaction, and executes it if there is no error.
type intercepted struct {
	storage.Store
	before func(storage.Txn) error
}

func (s *intercepted) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if s.before != nil {
		if err := s.before(t); err != nil {
			return 0, err
		}
	}
	return s.Store.Commit(ctx, t)
}

// intercept puts the store before that of a server.
func (s *intercepted) intercept(c *apiserver.Config) {
	s.Store = c.Store
	c.Store = s
}

// TestOvertaken runs testdata/overtaken: another client is faster than a request. The first lines of a case are the
// requests before, then come those of the other client with ">", then the overtaken request and what follows. The other
// client sends its requests right before the transaction with that key, or with one that begins with it:
//
//	put KEY [value=PART] [times=N] [unavailable]
//	delete KEY
//
// PART is a part of the value; with "unavailable" the outcome of the transaction is unknown. A request may be
// "STORE KEY VALUE", which writes without the API server; in those of the other client, KEY is the key of the
// transaction. The output has the code of each response, and the parts of its body on which the rules depend.
func TestOvertaken(t *testing.T) {
	datadriven.RunTest(t, "testdata/overtaken", func(t *testing.T, d *datadriven.TestData) string {
		store := &intercepted{}
		s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
			gated(c)
			store.intercept(c)
		}})
		var b strings.Builder
		var others []string
		part, times := "", 1
		d.MaybeScanArgs(t, "value", &part)
		d.MaybeScanArgs(t, "times", &times)
		store.before = func(txn storage.Txn) error {
			if len(others) == 0 || times == 0 || !strings.HasPrefix(txn.Key, d.CmdArgs[0].Key) ||
				(txn.Value == nil) != (d.Cmd == "delete") || !strings.Contains(string(txn.Value), part) {
				return nil
			}
			times--
			for _, r := range others {
				b.WriteString("> " + overtake(t, s, strings.Replace(r, "KEY", txn.Key, 1)))
			}
			if d.HasArg("unavailable") {
				return storage.ErrUnavailable
			}
			return nil
		}
		for line := range strings.Lines(d.Input) {
			if other, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok {
				others = append(others, other)
			} else {
				b.WriteString(overtake(t, s, other))
			}
		}
		return b.String()
	})
}

// ruling matches the parts of a body that TestOvertaken prints.
var ruling = regexp.MustCompile(`"deletionGracePeriodSeconds":\d+|"uid":"\w{1,3}"|"labels":{[^}]*}|"used":{[^}]*}|` +
	`"reason":"\w+"|the provided network [a-z ]+|already allocated`)

func overtake(t *testing.T, s *apiservertest.Server, request string) string {
	parts := append(strings.SplitN(request, " ", 3), "")
	if parts[0] == "STORE" {
		s.Put(t, parts[1], parts[2])
		return "stored\n"
	}
	contentType := "application/json"
	switch {
	case strings.Contains(parts[1], "fieldManager"):
		contentType = "application/apply-patch+yaml"
	case parts[0] == "PATCH":
		contentType = "application/merge-patch+json"
	}
	a := s.Do(parts[0], parts[1], parts[2], "Content-Type", contentType)
	shown := append([]string{parts[0], fmt.Sprint(a.Code)}, ruling.FindAllString(string(a.Body), -1)...)
	return strings.Join(shown, " ") + "\n"
}
