package apiserver

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac/live"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Modes are the names that --authorization-mode accepts.
func Modes() []string { return []string{"AlwaysAllow", "AlwaysDeny", "RBAC"} }

// errMode: an authorization mode that is not known.
var errMode = errors.New("not an authorization mode")

// authorizers makes the chain of the modes, administrators first. roles is the mode RBAC, if it is there.
func authorizers(
	modes []string, c *cache.Cache, log *slog.Logger,
) (chain authorization.Chain, roles *live.Authorizer, err error) {
	chain = authorization.Chain{authorization.Masters{}}
	for _, m := range modes {
		switch m {
		case "AlwaysAllow":
			chain = append(chain, authorization.AlwaysAllow{})
		case "AlwaysDeny":
			chain = append(chain, authorization.AlwaysDeny{})
		case "RBAC":
			roles = live.New(c, log)
			chain = append(chain, roles)
		default:
			return nil, nil, fmt.Errorf("%q is %w; there are %s", m, errMode, strings.Join(Modes(), ", "))
		}
	}
	return chain, roles, nil
}
