//go:build !race

package document_test

import "time"

// deadline is how long a hostile document may take.
const deadline = 2 * time.Second
