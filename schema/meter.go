package schema

// Bounds of the work that one validation may do. A step is about a microsecond,
// and at most about 200 bytes of what the library remembers of a failure. A
// match is one instruction of a regular expression at one byte of a text: about
// ten nanoseconds at worst.
const (
	maxSteps   = 200_000
	maxMatches = 40_000_000

	bytesPerStep     = 256 // of a string that is measured or compared
	depthPerWeight   = 8   // levels: each failure remembers its path
	stepsPerDivision = 32  // of the longest fractions that a float64 can be
)

// tooCostly is what a meter panics with; Validate alone recovers it.
type tooCostly struct{}

// meter counts the work of one validation. It ends it by a panic when nothing is
// left, because the library has no other way to stop.
type meter struct {
	steps   int
	matches int
	weight  int
	ticks   int
	// ended returns an error when the validation has to end at once; nil: never.
	ended func() error
}

// start begins a validation of a value that is so deep.
func (m *meter) start(depth int, ended func() error) {
	m.steps, m.matches = maxSteps, maxMatches
	m.weight = 1 + depth/depthPerWeight
	m.ticks, m.ended = 0, ended
}

// charge takes steps. It looks now and then whether the validation has to end.
func (m *meter) charge(steps int) {
	m.steps -= steps * m.weight
	m.ticks++
	if m.steps < 0 || m.ticks%256 == 0 && m.ended != nil && m.ended() != nil {
		panic(tooCostly{})
	}
}

// match takes what a regular expression of the size may need for a text.
func (m *meter) match(size, text int) {
	m.matches -= size * (text + 1)
	if m.matches < 0 {
		panic(tooCostly{})
	}
}
