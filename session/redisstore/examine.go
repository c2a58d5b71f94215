package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/session"
)

// examine checks the settings of the server, or of each primary in a cluster, and fills the
// report.
func (s *Store) examine(ctx context.Context) error {
	s.report = session.Report{Engine: "redis"}
	check := func(ctx context.Context, c redis.Cmdable) error {
		text, err := c.Info(ctx).Result()
		if err != nil {
			return err
		}
		return s.checkInfo(parseInfo(text))
	}
	if cluster, ok := s.db.(*redis.ClusterClient); ok {
		// ForEachMaster runs in parallel, but checkInfo must not.
		masters := make(chan redis.Cmdable, maxPrimaries)
		if err := cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
			masters <- c
			return nil
		}); err != nil {
			return err
		}
		close(masters)
		for c := range masters {
			if err := check(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
	return check(ctx, s.db)
}

// checkInfo refuses a server that loses more than the options accept, and notes in the report
// what it can lose.
func (s *Store) checkInfo(info map[string]string) error {
	version := info["redis_version"]
	if !atLeast(version, 6, 2) {
		return fmt.Errorf("redis %s is too old: want 6.2 or later", version)
	}
	if s.syncWait > 0 && !atLeast(version, 7, 2) {
		return fmt.Errorf("redis %s cannot wait for its disk (WAITAOF): WithSynced needs 7.2 or later, so set appendfsync always instead", version)
	}
	if s.syncWait > 0 && info["aof_enabled"] != "1" {
		return errors.New("redis has no append-only file to wait for (appendonly no): turn it on, or leave WithSynced out")
	}
	s.report.Version = version
	s.report.Loses = nil
	if info["aof_enabled"] != "1" {
		if !s.lossy {
			return errors.New("redis can lose acknowledged records (appendonly no): turn it on or pass WithLossy")
		}
		s.report.Loses = append(s.report.Loses, "all records when the server ends (appendonly no)")
	} else if s.syncWait > 0 {
		s.report.Loses = append(s.report.Loses, "up to 2 s of records when the machine is lost, unless appendfsync is always")
	} else {
		s.report.Loses = append(s.report.Loses, "up to 2 s of records when the machine is lost, or the server is killed while its disk is slow (no WithSynced), unless appendfsync is always")
	}
	if policy := info["maxmemory_policy"]; policy != "noeviction" && policy != "" {
		if !s.lossy {
			return fmt.Errorf("redis can lose acknowledged records (maxmemory-policy %s): set noeviction or pass WithLossy", policy)
		}
		s.report.Loses = append(s.report.Loses, "records that the server evicts (maxmemory-policy "+policy+")")
	}
	if s.replicas == 0 {
		s.report.Loses = append(s.report.Loses, "at a failover, records that the new primary lacks (no WithReplicas)")
	}
	return nil
}

func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			info[name] = value
		}
	}
	return info
}

func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}
