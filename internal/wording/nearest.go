package wording

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxName bounds the work for names from untrusted input, in bytes, and
// maxCandidates that for many of them.
const (
	maxName       = 64
	maxCandidates = 1_000
)

// Nearest returns the candidate with the fewest edits from name, the first of them by
// name, if at most a third of it is edited; "" if none is so near. One edit is
// always near, and so are two neighbours that changed places. More than 1,000
// candidates are not looked at.
func Nearest(name string, candidates []string) string {
	if len(name) > maxName || len(candidates) > maxCandidates {
		return ""
	}
	best, fewest := "", max(1, len(name)/3)+1
	for _, candidate := range slices.Sorted(slices.Values(candidates)) {
		if len(candidate) > maxName {
			continue
		}
		if edits := distance(strings.ToLower(name), strings.ToLower(candidate)); edits < fewest {
			best, fewest = candidate, edits
		}
	}
	return best
}

// distance counts edits; neighbours that changed places are one.
func distance(a, b string) int {
	if len(a) == len(b) {
		for i := 0; i+1 < len(a); i++ {
			if a[i] != b[i] {
				if a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
					return 1
				}
				break
			}
		}
	}
	return levenshtein.ComputeDistance(a, b)
}

// Hint returns "; did you mean X?", or "" when nothing is near.
func Hint(name string, candidates []string) string {
	if found := Nearest(name, candidates); found != "" {
		return "; did you mean " + Name(found) + "?"
	}
	return ""
}

// Also returns a text that goes on with more: after "; ", or as a sentence of its
// own where the text ends with a question.
func Also(text, more string) string {
	if !strings.HasSuffix(text, "?") || more == "" {
		return text + "; " + more
	}
	return text + " " + strings.ToUpper(more[:1]) + more[1:]
}
