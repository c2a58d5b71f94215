package otel_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives the collector protocol over HTTP, as a real one does.
type collector struct {
	server *httptest.Server

	mu      sync.Mutex
	spans   []*traces.Span
	metrics map[string]*metrics.Metric
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string]*metrics.Metric{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		var req collectortrace.ExportTraceServiceRequest
		if !receive(t, w, r, &req, &collectortrace.ExportTraceServiceResponse{}) {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range req.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	})
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, r *http.Request) {
		var req collectormetrics.ExportMetricsServiceRequest
		if !receive(t, w, r, &req, &collectormetrics.ExportMetricsServiceResponse{}) {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range req.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					c.metrics[m.Name] = m
				}
			}
		}
	})
	c.server = httptest.NewServer(mux)
	t.Cleanup(c.server.Close)
	return c
}

func (c *collector) address(t *testing.T) string {
	t.Helper()
	address := c.server.Listener.Addr().String()
	if host, _, err := net.SplitHostPort(address); err != nil || !net.ParseIP(host).IsLoopback() {
		t.Fatalf("the collector listens on %s", address)
	}
	return address
}

func receive(t *testing.T, w http.ResponseWriter, r *http.Request, req, answer proto.Message) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, req)
	}
	if err != nil {
		t.Errorf("export to %s: %v", r.URL.Path, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	out, err := proto.Marshal(answer)
	if err != nil {
		t.Error(err)
		return false
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
	return true
}

// span finds the one span of a name.
func (c *collector) span(t *testing.T, name string) *traces.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*traces.Span
	var names []string
	for _, s := range c.spans {
		names = append(names, s.Name)
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans are named %q, want 1; there are %q", len(found), name, names)
	}
	return found[0]
}

func attribute(s *traces.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}
