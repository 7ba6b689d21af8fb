package drive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// currentVersion represents the object's current version in a request. No server has reached this number.
const currentVersion = 1 << 61

// Script returns the operations as shell commands for the server at the URL in $SERVER. The script keeps UIDs in
// variables.
func Script(prefix string, ops []model.Op) string {
	s := &Session{prefix: prefix, kinds: model.Needed(ops)}
	s.uids, s.symbols = map[model.UID]string{}, map[string]model.UID{}
	var b strings.Builder
	for _, ns := range model.Namespaces {
		fmt.Fprintln(&b, s.namespace(ns).Curl())
	}
	for _, k := range s.kinds {
		if !k.Custom {
			continue
		}
		fmt.Fprintln(&b, s.definition(k).Curl())
		fmt.Fprintf(&b, "until curl -sSf \"$SERVER\"'%s' >/dev/null; do sleep 1; done\n", s.collection(k, ""))
	}
	for _, op := range ops {
		op = s.Bind(op)
		switch op.Version {
		case model.Current:
			get := s.Request(model.Op{Verb: model.Get, Key: op.Key}).Curl()
			fmt.Fprintf(&b, "rv=$(%s | %s)\n", get, first("resourceVersion"))
			op.Version = currentVersion
		case model.Stale:
			op.Version = 1
		}
		line := strings.ReplaceAll(s.Request(op).Curl(), strconv.Itoa(currentVersion), `'"$rv"'`)
		for uid := range s.uids {
			line = strings.ReplaceAll(line, placeholder(uid), `'"$`+string(uid)+`"'`)
		}
		if op.Verb == model.Create && !op.DryRun {
			uid := symbolOf(op)
			line = fmt.Sprintf("%s=$(%s | tee /dev/stderr | %s)", uid, line, first("uid"))
			s.uids[uid] = placeholder(uid)
		}
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

func placeholder(uid model.UID) string { return "@" + string(uid) + "@" }

// first returns a command that prints the first string with a name in a JSON document. In an object this is its own.
func first(name string) string {
	return fmt.Sprintf(`grep -o '"%s": *"[^"]*"' | head -1 | cut -d'"' -f4`, name)
}
