package authorization

import (
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/validation"
)

// User is the identity of a client, like Kubernetes' user.Info.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Info returns the user in the type of reviews.
func (u User) Info() authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for key, values := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}

// Groups and users that Kubernetes reserves (AS pkg/authentication/user/user.go).
const (
	GroupMasters         = "system:masters"
	GroupAuthenticated   = "system:authenticated"
	GroupUnauthenticated = "system:unauthenticated"
	GroupServiceAccounts = "system:serviceaccounts"
	GroupNodes           = "system:nodes"
	NameAnonymous        = "system:anonymous"
)

var (
	// Unsecured is the user of the port without TLS. Its clients are administrators, as with kubectl proxy.
	Unsecured = User{Name: "system:unsecured", Groups: []string{GroupMasters, GroupAuthenticated}}
	// Loopback is the user of the server's own requests, except for those of controllers (AS pkg/authentication/user:
	// APIServerUser).
	Loopback = User{Name: "system:apiserver", Groups: []string{GroupAuthenticated, GroupMasters}}
)

// ServiceAccount returns the user of a service account: that of a client with its token, or of a controller in
// kube-system, as in kube-controller-manager with --use-service-account-credentials.
func ServiceAccount(namespace, name string) User {
	return User{
		Name:   ServiceAccountName(namespace, name),
		Groups: []string{GroupServiceAccounts, GroupServiceAccounts + ":" + namespace, GroupAuthenticated},
	}
}

const accountPrefix = "system:serviceaccount:"

// ServiceAccountName returns the user name of a service account.
func ServiceAccountName(namespace, name string) string { return accountPrefix + namespace + ":" + name }

// Anonymous is the user of clients without credentials.
var Anonymous = User{Name: NameAnonymous, Groups: []string{GroupUnauthenticated}}

// SplitServiceAccount returns the service account of a user name. ok is false for other users (AS
// pkg/authentication/serviceaccount: SplitUsername).
func SplitServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, accountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	ok = ok && len(validation.ValidateNamespaceName(namespace, false)) == 0 &&
		len(validation.ValidateServiceAccountName(name, false)) == 0
	return namespace, name, ok
}

// TokenClaim is the content of a service account's token.
type TokenClaim struct {
	Namespace, Name, UID string
	Audiences            []string
	Issued, Expires      time.Time
	// Pod, Secret and Node are the objects to which the token is bound. It becomes invalid with the pod or secret, or
	// with the node if there is no pod. The node of a pod is only information.
	Pod, Secret, Node *TokenRef
}

// TokenRef identifies an object to which a token is bound.
type TokenRef struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}
