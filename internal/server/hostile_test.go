package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/server"
)

// dial opens a connection and sends the head of a request, and what follows it.
func (r *running) dial(t testing.TB, head string, rest string) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() }) // the server has closed it already
	require.NoError(t, connection.SetDeadline(time.Now().Add(15*time.Second)))
	_, err = io.WriteString(connection, "POST /v1/publish HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+goodToken+"\r\n"+head+rest)
	require.NoError(t, err)
	return connection
}

// codeOf reads an answer.
func codeOf(t testing.TB, connection net.Conn) int {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }() // only read
	return response.StatusCode
}

func TestClientsThatMisbehave(t *testing.T) {
	tests := map[string]struct {
		head, rest string
		code       int
	}{
		"a body that does not come":         {"Content-Length: 100\r\n\r\n", "{", 408},
		"chunks that do not come":           {"Transfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n", 408},
		"chunks that are malformed":         {"Transfer-Encoding: chunked\r\n\r\n", "zz\r\n{\r\n", 400},
		"chunks of a negative size":         {"Transfer-Encoding: chunked\r\n\r\n", "-1\r\n{\r\n", 400},
		"two lengths":                       {"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "{}", 400},
		"a transfer encoding of its own":    {"Transfer-Encoding: gzip\r\n\r\n", "{}", 501},
		"huge headers":                      {"X-Huge: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "", 431},
		"a token of the size of a document": {"Authorization: Bearer " + strings.Repeat("x", 100<<10) + "\r\n\r\n", "", 431},
	}
	r := start(t, newFakeAPI(t).config(), within(300*time.Millisecond))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.code, codeOf(t, r.dial(t, test.head, test.rest)))
		})
	}
	require.Equal(t, 200, r.post(t, goodToken, linkTo("https://a.example.com")).code, "the others are served")
}

func TestHeadersThatDoNotComeEndTheConnection(t *testing.T) {
	t.Parallel()
	r := start(t, newFakeAPI(t).config())
	connection := r.dial(t, "X-Slow: ", "")
	_, err := io.Copy(io.Discard, connection)
	require.NoError(t, err, "the server did not close the connection")
}

func TestABodyThatBreaksOffIsNoRequest(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config())
	body := linkTo("https://a.example.com")
	connection := r.dial(t, fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)+10), body)
	require.NoError(t, connection.(*net.TCPConn).CloseWrite())
	eventually(t, "the request is logged", func() bool { return len(r.logs.lines(t, "publish")) == 1 })
	require.Zero(t, api.requests.Load())
}

func TestMoreRequestsThanItRunsAreTurnedAway(t *testing.T) {
	api := newFakeAPI(t)
	asked, release := make(chan struct{}), make(chan struct{})
	api.before = func(http.ResponseWriter, *http.Request) bool {
		if api.requests.Load() == 1 {
			close(asked)
			<-release
		}
		return false
	}
	r := start(t, api.config(), func(o *server.Options) { o.MaxConcurrent = 1 })
	first := make(chan answer, 1)
	go func() {
		a, err := r.try(t.Context(), goodToken, linkTo("https://a.example.com"))
		assert.NoError(t, err)
		first <- a
	}()
	<-asked
	assert.Equal(t, "1", r.metric(t, "publish_metadata_requests_in_flight"))
	a := r.post(t, goodToken, linkTo("https://a.example.com"))
	require.Equal(t, 503, a.code)
	assert.Equal(t, "1", a.header.Get("Retry-After"))
	assert.True(t, a.Retryable)
	assert.Equal(t, "Errored", a.Outcome)
	assert.Contains(t, a.Message, "try again")
	assert.Equal(t, 401, r.post(t, "", "{}").code, "nobody takes a slot")
	assert.Equal(t, 200, r.get(t, "/healthz").code)
	close(release)
	require.Equal(t, 200, (<-first).code)
	require.Equal(t, 200, r.post(t, goodToken, linkTo("https://a.example.com")).code)
}

func TestTimeoutsLeaveRoomForTheAnswer(t *testing.T) {
	require.Less(t, server.DefaultOptions().RequestTimeout, 10*time.Second, "Kargo's http step gives up after 10 s")
}
