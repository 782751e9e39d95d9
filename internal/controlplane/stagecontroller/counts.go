package stagecontroller

// Counts are what a controller did. The three kinds count members at the
// highest place that differs: an entry pruned as a whole counts once.
type Counts struct {
	// Passes is how many passes came to their end.
	Passes int
	// Undone is how many patches undid somebody else's write to status.metadata.
	Undone int
	// Changed is how many values got their old value back.
	Changed int
	// Restored is how many members that were removed, of an entry that shrunk or
	// an entry that was pruned, came back.
	Restored int
	// Removed is how many new members were removed.
	Removed int
	// Failures is how many passes ended early, LastFailure the latest reason.
	Failures    int
	LastFailure error
}

// Counts returns the counts so far.
func (c *Controller) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

func (c *Controller) count(change func(*Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.counts)
}

// addUndone counts what of a status patch is metadata. The controller itself
// never changes any, so all of it is undoing.
func (c *Counts) addUndone(patch, base map[string]any) {
	if metadata, touched := patch["metadata"]; touched {
		c.Undone++
		c.addMembers(map[string]any{"metadata": metadata}, base)
	}
}

func (c *Counts) addMembers(patch, base map[string]any) {
	for name, wanted := range patch {
		stands, exists := base[name]
		members, isObject := wanted.(map[string]any)
		below, wasObject := stands.(map[string]any)
		switch {
		case wanted == nil:
			c.Removed++
		case !exists:
			c.Restored++
		case isObject && wasObject:
			c.addMembers(members, below)
		default:
			c.Changed++
		}
	}
}
