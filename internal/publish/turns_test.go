package publish

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/decode"
)

func TestTurns(t *testing.T) {
	one, other := decode.Target{Kind: "Stage", Namespace: "demo", Name: "a"}, decode.Target{Kind: "Stage", Namespace: "demo", Name: "b"}

	t.Run("are taken one at a time, and leave nothing behind", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var turns Turns
			var group sync.WaitGroup
			inside, started := 0, time.Now()
			for range 10 {
				group.Go(func() {
					done, err := turns.take(t.Context(), one)
					require.NoError(t, err)
					inside++
					require.Equal(t, 1, inside)
					time.Sleep(time.Second)
					inside--
					done()
				})
			}
			group.Wait()
			require.Equal(t, 10*time.Second, time.Since(started))
			require.Empty(t, turns.queue)
		})
	})

	t.Run("of different targets do not wait for each other", func(t *testing.T) {
		var turns Turns
		first, err := turns.take(t.Context(), one)
		require.NoError(t, err)
		second, err := turns.take(t.Context(), other)
		require.NoError(t, err)
		require.Len(t, turns.queue, 2)
		first()
		second()
		require.Empty(t, turns.queue)
	})

	t.Run("are not waited for longer than the context lasts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var turns Turns
			first, err := turns.take(t.Context(), one)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			done, err := turns.take(ctx, one)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Nil(t, done)
			require.Len(t, turns.queue, 1, "it is held still")
			first()
			require.Empty(t, turns.queue)
			again, err := turns.take(t.Context(), one)
			require.NoError(t, err)
			again()
		})
	})
}

func TestBackoffGrowsAndIsBounded(t *testing.T) {
	for n := range 200 {
		require.GreaterOrEqual(t, backoff(n), time.Duration(0))
		require.Less(t, backoff(n), min(8*time.Millisecond<<min(n, 10), time.Second)+1)
	}
}
