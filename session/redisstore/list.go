package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Sessions implements session.Lister. It reads every session, so it is for maintenance. It
// computes Changed from the time to live that is left, exact to a thousandth of WithTTL; with
// WithTTL(0) it is now.
func (s *Store) Sessions(ctx context.Context) ([]session.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	all := map[string]session.Info{} // a scan may return a key twice
	scan := func(ctx context.Context, c redis.Cmdable) error {
		for cursor := uint64(0); ; {
			keys, next, err := c.Scan(ctx, cursor, escape(s.prefix)+"{*}", 500).Result()
			if err != nil {
				return err
			}
			for _, key := range keys {
				info, err := s.readInfo(ctx, key)
				if err != nil {
					return err
				}
				if info.ID != "" && !strings.HasPrefix(info.ID, session.ReservedPrefix) {
					mu.Lock()
					all[key] = info
					mu.Unlock()
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	var err error
	if cluster, ok := s.db.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return scan(ctx, c) })
	} else {
		err = scan(ctx, s.db)
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var infos []session.Info
	for _, info := range all {
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b session.Info) int { return strings.Compare(a.ID, b.ID) })
	return infos, nil
}

// readInfo reads a session. The result has no ID if no value of the session can be read.
func (s *Store) readInfo(ctx context.Context, key string) (session.Info, error) {
	fields, err := s.db.HGetAll(ctx, key).Result()
	if err != nil {
		return session.Info{}, err
	}
	var info session.Info
	id := fields[idField]
	for field, value := range fields {
		agent, ok := strings.CutPrefix(field, agentField)
		if !ok {
			continue
		}
		if _, err := decodeValue(core.SessionKey{Session: id, Agent: agent}, []byte(value)); err == nil {
			info.ID = id
			info.Agents = append(info.Agents, agent)
		}
	}
	slices.Sort(info.Agents)
	info.Changed = time.Now()
	left, err := s.db.PTTL(ctx, key).Result()
	if err != nil {
		return session.Info{}, err
	}
	if s.ttl > 0 && left > 0 {
		info.Changed = info.Changed.Add(left - s.ttl)
	}
	return info, nil
}

// escape escapes the special characters of a pattern in prefix.
func escape(prefix string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "^", `\^`).Replace(prefix)
}
