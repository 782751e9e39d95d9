package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kargo-steps/publish-metadata/schema"
)

func TestProblemsAreSortedOnceAndCapped(t *testing.T) {
	var problems schema.Problems
	for i := range 60 {
		problems.Add(fmt.Sprintf("/%02d", 59-i), "is %s", "wrong")
		problems.Add(fmt.Sprintf("/%02d", 59-i), "is %s", "wrong")
	}
	problems.Add("/00", "is also wrong")
	sorted := problems.Sorted()
	assert.Len(t, sorted, schema.MaxProblems+1)
	assert.Equal(t, schema.Problem{Pointer: "/00", Message: "is also wrong"}, sorted[0])
	assert.Equal(t, schema.Problem{Pointer: "/00", Message: "is wrong"}, sorted[1])
	assert.Equal(t, schema.Problem{Message: "and 11 more problems"}, sorted[schema.MaxProblems])
	assert.Len(t, problems, 121, "the problems themselves do not change")
	assert.Empty(t, schema.Problems(nil).Sorted())
}

func TestWhatIsLeftOutIsCountedLast(t *testing.T) {
	var problems schema.Problems
	for i := range schema.MaxProblems + 3 {
		problems.Add(fmt.Sprintf("/%02d", i), "is wrong")
	}
	again := append(problems.Sorted().Under("/config"), schema.Problem{Pointer: "/config/z", Message: "is wrong"}).Sorted()
	assert.Len(t, again, schema.MaxProblems+1)
	assert.Equal(t, "/config/00", again[0].Pointer)
	assert.Equal(t, schema.Problem{Message: "and 4 more problems"}, again[schema.MaxProblems])
}

func TestProblemsReadAsOneLine(t *testing.T) {
	problems := schema.Problems{{Message: "is wrong"}, {Pointer: "/a", Message: "is empty"}, {Pointer: "/a\nb", Message: "is long"}}
	assert.Equal(t, `is wrong; /a: is empty; "/a\nb": is long`, problems.Error())
	assert.Equal(t, "/metadata/0/value/a", problems.Under("/metadata/0/value")[1].Pointer)
	assert.Equal(t, "/a", problems[1].Pointer)
	assert.Empty(t, schema.Problems(nil).Error())
}

func TestPointer(t *testing.T) {
	assert.Empty(t, schema.Pointer())
	assert.Equal(t, "/", schema.Pointer(""))
	assert.Equal(t, "/a~1b/c~0d/~01/0", schema.Pointer("a/b", "c~d", "~1", "0"))
}
