//go:build race

package document_test

import "time"

// deadline allows for the race detector, which makes parsers ten times slower.
const deadline = 20 * time.Second
