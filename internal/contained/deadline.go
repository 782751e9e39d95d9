//go:build !race

// Package contained says what tests allow hostile input to cost.
package contained

import "time"

// Deadline is how long one hostile input may take.
const Deadline = 2 * time.Second
