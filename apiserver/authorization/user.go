package authorization

import (
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// User is the identity of a client.
type User = user.DefaultInfo

// InfoOf returns a user in the type of reviews.
func InfoOf(u User) authenticationv1.UserInfo {
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
		Name:   serviceaccount.MakeUsername(namespace, name),
		Groups: append(serviceaccount.MakeGroupNames(namespace), GroupAuthenticated),
	}
}

// Anonymous is the user of clients without credentials.
var Anonymous = User{Name: NameAnonymous, Groups: []string{GroupUnauthenticated}}

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
