//go:build race

// Package contained says what tests allow hostile input to cost.
package contained

import "time"

// Deadline allows for the race detector, which makes code ten times slower.
const Deadline = 20 * time.Second
