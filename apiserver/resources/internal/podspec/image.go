package podspec

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The grammar of image references of github.com/distribution/reference.
const (
	imageHost   = `(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
	imagePart   = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
	imageTag    = `[\w][\w.-]{0,127}`
	imageDigest = `[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[[:xdigit:]]{32,}`
)

var (
	imageID   = regexp.MustCompile(`^[a-f0-9]{64}$`)
	imageName = regexp.MustCompile(
		`^` + imageHost + `/(` + imagePart + `(?:/` + imagePart + `)*)(?::(` + imageTag + `))?(?:@(` + imageDigest + `))?$`,
	)
	// imageSums maps the supported digests to their number of hexadecimal digits.
	imageSums = map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}
)

// DefaultPullPolicy returns Always for the tag latest, which is also the default tag. It returns IfNotPresent for other
// tags, for digests, and for invalid references (SetDefaults_Container).
func DefaultPullPolicy(image string) corev1.PullPolicy {
	if latest(image) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// latest reports whether a reference has the tag latest, or neither tag nor digest.
func latest(image string) bool {
	if imageID.MatchString(image) {
		return false
	}
	m := imageName.FindStringSubmatch(normal(image))
	if m == nil || len(m[1]) > 255 {
		return false
	}
	tag, digest := m[2], m[3]
	if digest == "" {
		return tag == "" || tag == "latest"
	}
	return tag == "latest" && checkable(digest)
}

// normal adds the registry and the namespace that short references omit. The first part of a reference is a host if it
// has a dot, a port or upper case letters, or is localhost. Otherwise it is a namespace.
func normal(image string) string {
	host, rest, found := strings.Cut(image, "/")
	if !found || !strings.ContainsAny(host, ".:") && host != "localhost" && strings.ToLower(host) == host {
		host, rest = "docker.io", image
	}
	if host == "index.docker.io" {
		host = "docker.io"
	}
	if host == "docker.io" && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	return host + "/" + rest
}

func checkable(digest string) bool {
	name, hex, _ := strings.Cut(digest, ":")
	return imageSums[name] == len(hex) && strings.ToLower(hex) == hex
}
