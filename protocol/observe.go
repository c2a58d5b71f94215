package protocol

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Record describes one call of a method, for logs and counters. It holds no parameters, code or
// output.
type Record struct {
	Method, Tenant, Name string
	Skill                string // id of the skill that the call found, or ""
	Code                 int    // of the error, or 0
	RunID, State, Reason string // of a run, or ""
	Duration             time.Duration
}

// recordCall adds a call to the metrics and the log, and passes it to the observer.
func (s *Server) recordCall(ctx context.Context, r Record) {
	s.metrics.add(r)
	attrs := []slog.Attr{slog.String("method", r.Method), slog.String("tenant", r.Tenant), slog.Int("code", r.Code), slog.Int64("ms", r.Duration.Milliseconds())}
	for _, a := range []slog.Attr{slog.String("skill", r.Skill), slog.String("run_id", r.RunID), slog.String("traceparent", traceParent(ctx))} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	s.logger.LogAttrs(ctx, slog.LevelInfo, "call", attrs...)
	if s.observe != nil {
		s.observe(ctx, r)
	}
}

type traceKey struct{}

func traceParent(ctx context.Context) string {
	text, _ := ctx.Value(traceKey{}).(string)
	return text
}

// metrics holds the counters of GET /metrics.
type metrics struct {
	mu          sync.Mutex
	requests    map[[2]string]int64   // by method and error code
	seconds     float64               // of all requests
	runs        map[string]int64      // by state
	reasons     map[string][2]float64 // seconds and number of runs, by reason
	verdicts    map[string]int64      // connections of runs, by verdict
	egressBytes int64
	tenants     map[string]bool // that have called, at most maxTenants
}

// addEgress counts a connection of a run and its bytes.
func (m *metrics) addEgress(verdict string, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.verdicts == nil {
		m.verdicts = make(map[string]int64)
	}
	m.verdicts[verdict]++
	m.egressBytes += bytes
}

// add counts a call.
func (m *metrics) add(r Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests, m.tenants = make(map[[2]string]int64), make(map[string]bool)
		m.runs, m.reasons = make(map[string]int64), make(map[string][2]float64)
	}
	if r.Tenant != "" && len(m.tenants) < maxTenants {
		m.tenants[r.Tenant] = true
	}
	m.requests[[2]string{r.Method, fmt.Sprint(r.Code)}]++
	m.seconds += r.Duration.Seconds()
	if r.State != "" {
		m.runs[r.State]++
		sum := m.reasons[r.Reason]
		m.reasons[r.Reason] = [2]float64{sum[0] + r.Duration.Seconds(), sum[1] + 1}
	}
}

// blobBytes returns the size of the blobs of all tenants that have called since the start.
func (s *Server) blobBytes(ctx context.Context) (total int64) {
	s.metrics.mu.Lock()
	tenants := slices.Sorted(maps.Keys(s.metrics.tenants))
	s.metrics.mu.Unlock()
	for _, tenant := range tenants {
		if used, err := s.store.Usage(ctx, tenant); err == nil {
			total += used.Bytes
		}
	}
	return total
}

// write writes the counters in the text format of Prometheus.
func (m *metrics) write(w io.Writer, blobBytes int64) {
	_, _ = fmt.Fprintf(w, "# TYPE satchel_blob_bytes gauge\nsatchel_blob_bytes %d\n", blobBytes)
	m.mu.Lock()
	defer m.mu.Unlock()
	total := int64(0)
	keys := slices.SortedFunc(maps.Keys(m.requests), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	_, _ = fmt.Fprintln(w, "# TYPE satchel_requests_total counter")
	for _, key := range keys {
		total += m.requests[key]
		_, _ = fmt.Fprintf(w, "satchel_requests_total{method=%q,code=%q} %d\n", key[0], key[1], m.requests[key])
	}
	_, _ = fmt.Fprintf(w, "# TYPE satchel_request_seconds summary\nsatchel_request_seconds_sum %g\nsatchel_request_seconds_count %d\n", m.seconds, total)
	_, _ = fmt.Fprintln(w, "# TYPE satchel_runs counter")
	for _, state := range slices.Sorted(maps.Keys(m.runs)) {
		_, _ = fmt.Fprintf(w, "satchel_runs{state=%q} %d\n", state, m.runs[state])
	}
	_, _ = fmt.Fprintln(w, "# TYPE satchel_egress_total counter")
	for _, verdict := range slices.Sorted(maps.Keys(m.verdicts)) {
		_, _ = fmt.Fprintf(w, "satchel_egress_total{verdict=%q} %d\n", verdict, m.verdicts[verdict])
	}
	_, _ = fmt.Fprintf(w, "# TYPE satchel_egress_bytes_total counter\nsatchel_egress_bytes_total %d\n", m.egressBytes)
	_, _ = fmt.Fprintln(w, "# TYPE satchel_run_seconds summary")
	for _, reason := range slices.Sorted(maps.Keys(m.reasons)) {
		sum := m.reasons[reason]
		_, _ = fmt.Fprintf(w, "satchel_run_seconds_sum{reason=%q} %g\nsatchel_run_seconds_count{reason=%q} %g\n", reason, sum[0], reason, sum[1])
	}
}
