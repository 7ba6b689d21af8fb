package filters

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// mode is one of the modes of impersonation: the constrained ones are for some requests and some users only, and have
// verbs with their names in them; the legacy one, which has no name, is for all
// (AS pkg/endpoints/filters/impersonation/mode.go).
type mode struct {
	name string
	// suits reports whether the mode is for such users.
	suits func(wanted *authorization.User, by authorization.User) bool
}

// constrained is the prefix of the verbs of constrained modes.
const constrained = "impersonate:"

// verb is what a user must be allowed to do in a constrained mode; empty for the legacy mode.
func (m *mode) verb() string {
	if m.name == "" {
		return ""
	}
	return constrained + m.name
}

// modes are all, in the order in which they are tried.
var modes = [...]mode{
	{"associated-node", func(wanted *authorization.User, by authorization.User) bool {
		node, ok := nodeOf(wanted.Name)
		_, _, account := authorization.SplitServiceAccount(by.Name)
		own := by.Extra[authentication.ExtraNode]
		return ok && account && nameOnly(wanted) && len(own) == 1 && own[0] == node
	}},
	{"arbitrary-node", func(wanted *authorization.User, _ authorization.User) bool {
		_, ok := nodeOf(wanted.Name)
		return ok && nameOnly(wanted)
	}},
	{"serviceaccount", func(wanted *authorization.User, _ authorization.User) bool {
		_, _, ok := authorization.SplitServiceAccount(wanted.Name)
		return ok && nameOnly(wanted)
	}},
	{"user-info", func(wanted *authorization.User, _ authorization.User) bool {
		_, node := nodeOf(wanted.Name)
		_, _, account := authorization.SplitServiceAccount(wanted.Name)
		return !node && !account
	}},
	{"", func(*authorization.User, authorization.User) bool { return true }},
}

func nameOnly(u *authorization.User) bool {
	return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0
}

func nodeOf(user string) (string, bool) {
	name, ok := strings.CutPrefix(user, "system:node:")
	return name, ok && len(validation.NameIsDNSSubdomain(name, false)) == 0
}
