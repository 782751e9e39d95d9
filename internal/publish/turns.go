package publish

import (
	"context"
	"sync"

	"github.com/kargo-steps/publish-metadata/internal/decode"
)

// Turns lets the publications of one process write to a target one at a time, so
// that they do not invalidate each other's reads. It saves work and decides
// nothing: other processes write too. The zero value is ready.
type Turns struct {
	mu    sync.Mutex
	queue map[decode.Target]*turn
}

// turn is held while its channel is full.
type turn struct {
	held    chan struct{}
	waiting int
}

// take waits for the target's turn, or until ctx ends; done gives it back.
func (t *Turns) take(ctx context.Context, target decode.Target) (done func(), err error) {
	entry := t.join(target)
	select {
	case entry.held <- struct{}{}:
		return func() { <-entry.held; t.leave(target, entry) }, nil
	case <-ctx.Done():
		t.leave(target, entry)
		return nil, ctx.Err()
	}
}

func (t *Turns) join(target decode.Target) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue == nil {
		t.queue = make(map[decode.Target]*turn)
	}
	entry := t.queue[target]
	if entry == nil {
		entry = &turn{held: make(chan struct{}, 1)}
		t.queue[target] = entry
	}
	entry.waiting++
	return entry
}

func (t *Turns) leave(target decode.Target, entry *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if entry.waiting--; entry.waiting == 0 {
		delete(t.queue, target)
	}
}
