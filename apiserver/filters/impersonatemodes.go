package filters

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// mode is a mode of impersonation. A constrained mode applies only to some requests and users, and its name is part of
// its verbs. The legacy mode has no name, and applies to all requests (AS pkg/endpoints/filters/impersonation/mode.go).
type mode struct {
	name string
	// suits reports whether the mode applies to the impersonation of wanted by the user "by".
	suits func(wanted *authorization.User, by authorization.User) bool
}

// constrained is the prefix of the verbs of constrained modes.
const constrained = "impersonate:"

// verb returns the verb that a user needs for a constrained mode. It is empty for the legacy mode.
func (m *mode) verb() string {
	if m.name == "" {
		return ""
	}
	return constrained + m.name
}

// modes has all modes, in the order in which they are tried.
var modes = [...]mode{
	{"associated-node", func(wanted *authorization.User, by authorization.User) bool {
		node, ok := nodeOf(wanted.Name)
		_, _, notAccount := serviceaccount.SplitUsername(by.Name)
		own := by.Extra[serviceaccount.NodeNameKey]
		return ok && notAccount == nil && nameOnly(wanted) && len(own) == 1 && own[0] == node
	}},
	{"arbitrary-node", func(wanted *authorization.User, _ authorization.User) bool {
		_, ok := nodeOf(wanted.Name)
		return ok && nameOnly(wanted)
	}},
	{"serviceaccount", func(wanted *authorization.User, _ authorization.User) bool {
		_, _, err := serviceaccount.SplitUsername(wanted.Name)
		return err == nil && nameOnly(wanted)
	}},
	{"user-info", func(wanted *authorization.User, _ authorization.User) bool {
		_, node := nodeOf(wanted.Name)
		_, _, notAccount := serviceaccount.SplitUsername(wanted.Name)
		return !node && notAccount != nil
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
