//go:build integration

package cluster_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/controlplane/stagecontroller"
	"github.com/kargo-steps/publish-metadata/step"
)

// What is played: each Stage has a controller that makes one pass after another,
// so that many publications land inside one.
const (
	stagesPlayed = 20
	publications = 10 // of each Stage, one after the other
	passTime     = 300 * time.Millisecond
	passPause    = 150 * time.Millisecond
	passSteps    = 2
)

// edition returns the links of the nth publication: entries are added, changed,
// shrunk and pruned from one to the next.
func edition(n int) map[string]any {
	links := map[string]any{"changes": link(fmt.Sprintf("https://c.example.com/%d", n))}
	shrinks := link("https://s.example.com")
	if n%2 == 0 {
		shrinks["label"] = "long"
		shrinks["tooltip"] = "longer"
		links["comes-and-goes"] = link("https://g.example.com")
	}
	links["shrinks"] = shrinks
	links[fmt.Sprintf("new-%d", n)] = link("https://n.example.com")
	return links
}

// played is what came of publications under controllers.
type played struct {
	mu                     sync.Mutex
	lost, reasserted, done int
	undone                 int
}

func (p *played) add(run step.Result, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.reasserted += int(run.Output["reasserted"].(int64))
	if lost {
		p.lost++
	}
}

// playStages publishes editions to Stages while controllers undo what they can,
// and looks at each once the passes that could have undone it are over.
func playStages(t *testing.T, settle time.Duration) *played {
	result := &played{}
	client := newClient(t, server.AdminConfig())
	runner := newRunner(t, client, step.WithSettle(settle))
	var group sync.WaitGroup
	for n := range stagesPlayed {
		project := newStage(t, "test.01")
		controller := stagecontroller.New(server.Client(), project, "test", stagecontroller.Options{
			Steps: passSteps, Pass: passTime, Pause: passPause, Seed: uint64(n),
		})
		stop := controller.Start(t)
		group.Go(func() {
			for nth := range publications {
				links := edition(nth)
				run, err := runner.Run(t.Context(), request(project, "test.01", "publish", links))
				if err != nil {
					t.Errorf("Stage %s/test, publication %d: %v", project, nth, err)
					return
				}
				time.Sleep(2 * passTime) // the longest pass
				result.add(run, !reflect.DeepEqual(links, linksOf(t, project)))
			}
			counts := stop()
			result.mu.Lock()
			result.undone += counts.Undone
			result.mu.Unlock()
		})
	}
	group.Wait()
	return result
}

func TestPublicationsSurviveKargosStageController(t *testing.T) {
	unsettled := playStages(t, 0)
	t.Logf("without settle: %d of %d lost, %d writes undone", unsettled.lost, unsettled.done, unsettled.undone)
	require.Equal(t, stagesPlayed*publications, unsettled.done)
	require.Positive(t, unsettled.lost, "nothing was undone: the controller is not played as it is")

	settled := playStages(t, step.DefaultSettle)
	t.Logf("with settle %s: %d of %d lost, %d re-asserted, %d writes undone",
		step.DefaultSettle, settled.lost, settled.done, settled.reasserted, settled.undone)
	require.Equal(t, stagesPlayed*publications, settled.done)
	require.Zero(t, settled.lost)
	require.Positive(t, settled.reasserted)
}
