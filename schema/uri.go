package schema

import (
	"regexp"
	"strings"
)

var (
	sshUser        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	imageComponent = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*$`)
	purl           = regexp.MustCompile(`^pkg:[a-z][a-z0-9.+-]*(/[^/?#@\s]+)+(@[^/?#@\s]+)?(\?[^#\s]+)?(#\S+)?$`)
)

// checkRepoURL returns "" for the URL of a Git repository, else the reason why
// not: https or http as CheckURL wants them, ssh://git@host/path, or
// git@host:path. A user name is accepted with SSH alone, a password never.
func checkRepoURL(s string) string {
	if reason := checkURLText(s); reason != "" {
		return reason
	}
	if len(s) >= len("ssh://") && strings.EqualFold(s[:len("ssh://")], "ssh://") {
		authority, path, _ := strings.Cut(s[len("ssh://"):], "/")
		if user, host, found := strings.Cut(authority, "@"); found {
			if !sshUser.MatchString(user) {
				return "must not hold a password, nor a user name other than letters, digits, dots, dashes and underscores"
			}
			authority = host
		}
		if path == "" {
			return "names no repository"
		}
		return checkAuthority(authority)
	}
	if strings.Contains(s, "://") {
		return CheckURL(s)
	}
	user, rest, found := strings.Cut(s, "@")
	host, path, colon := strings.Cut(rest, ":")
	if !found || !colon || !sshUser.MatchString(user) {
		return "has to begin with https://, http:// or ssh://, or be git@host:path"
	}
	if path == "" {
		return "names no repository"
	}
	return checkHost(host)
}

// checkArtifactURI returns "" for the URI of an artifact, else the reason why
// not: an image reference without tag and digest, also after oci://, an https
// or http URL as CheckURL wants it, or a package URL (pkg:).
func checkArtifactURI(s string) string {
	if reason := checkURLText(s); reason != "" {
		return reason
	}
	lower := strings.ToLower(s)
	switch {
	case strings.HasPrefix(lower, "http:"), strings.HasPrefix(lower, "https:"):
		return CheckURL(s)
	case strings.HasPrefix(s, "pkg:"):
		if !purl.MatchString(s) {
			return "is not a valid package URL, such as pkg:golang/example.com/mod@v1.2.3"
		}
		return ""
	case strings.HasPrefix(s, "oci://"):
		reference := s[len("oci://"):]
		if !strings.Contains(reference, "/") {
			return "names no repository after the registry"
		}
		return checkImage(reference)
	default:
		return checkImage(s)
	}
}

// checkImage checks an image reference: registry/path, or a path alone.
func checkImage(reference string) string {
	if strings.Contains(reference, "@") {
		return "must not hold a digest, which belongs in the field digest"
	}
	components := strings.Split(reference, "/")
	if first := components[0]; len(components) > 1 && (strings.ContainsAny(first, ".:[") || first == "localhost") {
		if reason := checkAuthority(first); reason != "" {
			return reason
		}
		components = components[1:]
	}
	if strings.Contains(components[len(components)-1], ":") {
		return "has to be an image without its tag, which belongs in the field tag, or begin with oci://, https:// or pkg:"
	}
	for _, component := range components {
		if !imageComponent.MatchString(component) {
			return "has to be an image without its tag, in lower case, or begin with oci://, https:// or pkg:"
		}
	}
	return ""
}
