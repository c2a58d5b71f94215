package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// State keys are the form in which older frameworks keep loaded skills in a session. ReadKeys
// also reads the keys without an agent; WriteKeys never writes them.
const (
	loadedPrefix = "temp:skill:loaded_by_agent:"
	docsPrefix   = "temp:skill:docs_by_agent:"
	orderPrefix  = "temp:skill:loaded_order_by_agent:"

	legacyLoadedPrefix = "temp:skill:loaded:"
	legacyDocsPrefix   = "temp:skill:docs:"
	legacyOrderKey     = "temp:skill:loaded_order:"

	loadedValue  = "1"
	allDocsValue = "*"
)

// LoadedKey returns the state key for a skill that agent has loaded. Both names are escaped as
// segments of a URL path, so no two pairs share a key.
func LoadedKey(agent, skill string) string {
	return loadedPrefix + url.PathEscape(agent) + "/" + url.PathEscape(skill)
}

// DocsKey returns the state key of agent's selection of docs of skill.
func DocsKey(agent, skill string) string {
	return docsPrefix + url.PathEscape(agent) + "/" + url.PathEscape(skill)
}

// OrderKey returns the state key of the load order of agent's skills.
func OrderKey(agent string) string { return orderPrefix + url.PathEscape(agent) }

// WriteKeys returns the loaded skills of a record as state keys. The value of a skill's key is
// "1". The value of its docs key is a JSON array of names, or "*" for all. The order key holds
// an array of the skills. There are no keys for skills that are not loaded.
func WriteKeys(r *Record) map[string]string {
	keys := map[string]string{}
	var order []string
	for _, a := range r.Active {
		keys[LoadedKey(r.Key.Agent, a.Skill)] = loadedValue
		if a.All {
			keys[DocsKey(r.Key.Agent, a.Skill)] = allDocsValue
		} else if len(a.Docs) > 0 {
			keys[DocsKey(r.Key.Agent, a.Skill)] = jsonNames(a.Docs)
		}
		order = append(order, a.Skill)
	}
	if len(order) > 0 {
		keys[OrderKey(r.Key.Agent)] = jsonNames(order)
	}
	return keys
}

// ReadKeys returns a new record with the loaded skills of key.Agent from state keys. The record
// has no digests and no deliveries, because the view shows no text yet.
//
// ReadKeys accepts the keys of [WriteKeys], also with unescaped names, and the older keys
// without an agent. A key with an agent wins over an older one for the same skill. An empty
// value means that the key was cleared. Skills are in the order of the order keys, then by
// name, and count as used in that order. ReadKeys ignores invalid values. More than 10,000
// skills are an error.
func ReadKeys(key core.SessionKey, keys map[string]string) (*Record, error) {
	loaded, docs := map[string]keyValue{}, map[string]keyValue{}
	for k, v := range keys {
		collect(loaded, k, v, key.Agent, loadedPrefix, legacyLoadedPrefix)
		collect(docs, k, v, key.Agent, docsPrefix, legacyDocsPrefix)
	}
	maps.DeleteFunc(loaded, func(_ string, n keyValue) bool { return n.value != loadedValue })
	if len(loaded) > maxSkills {
		return nil, fmt.Errorf("import loaded skills: the keys have %d, at most %d are read", len(loaded), maxSkills)
	}
	rec := &Record{Key: key, LoadState: LoadState{Uses: len(loaded)}}
	for i, skill := range loadOrder(loaded, keys, key.Agent) {
		a := Active{Skill: skill, Used: i + 1}
		if a.All = docs[skill].value == allDocsValue; !a.All {
			a.Docs = parseNames(docs[skill].value)
		}
		rec.Active = append(rec.Active, a)
	}
	return rec, nil
}

// keyValue is the value of a key for one skill. If several spellings of a key name the same
// skill, the one of the highest rank counts.
type keyValue struct {
	value string
	rank  int
}

const (
	rankLegacy = iota + 1
	rankRaw
	rankEscaped
)

// collect adds the value of k to found if k is a key of agent.
func collect(found map[string]keyValue, k, value, agent, prefix, legacy string) {
	var skill string
	rank := rankLegacy
	if rest, ok := strings.CutPrefix(k, prefix); ok {
		owner, name, ok := strings.Cut(rest, "/")
		owner, exact := unescapeName(owner)
		if !ok || owner != agent {
			return
		}
		rank = rankRaw
		if skill, ok = unescapeName(name); ok && exact {
			rank = rankEscaped
		}
	} else if skill, ok = strings.CutPrefix(k, legacy); !ok {
		return
	}
	if old := found[skill]; skill != "" && old.rank < rank {
		found[skill] = keyValue{value, rank}
	} else if old.rank == rank {
		// Two raw spellings: choose by value, as map order must not decide.
		found[skill] = keyValue{max(old.value, value), rank}
	}
}

// unescapeName returns the name that s is the escaped form of. If s cannot be the result of
// escaping, it returns s unchanged.
func unescapeName(s string) (name string, escaped bool) {
	name, err := url.PathUnescape(s)
	if err != nil || url.PathEscape(name) != s {
		return s, false
	}
	return name, true
}

// loadOrder returns the names of loaded in load order.
func loadOrder(loaded map[string]keyValue, state map[string]string, agent string) []string {
	wanted := parseNames(state[OrderKey(agent)])
	if name, _ := unescapeName(agent); name == agent { // otherwise the key belongs to another agent
		wanted = append(wanted, parseNames(state[orderPrefix+agent])...)
	}
	wanted = append(wanted, parseNames(state[legacyOrderKey])...)
	wanted = append(wanted, slices.Sorted(maps.Keys(loaded))...)
	order := make([]string, 0, len(loaded))
	seen := make(map[string]bool, len(loaded))
	for _, skill := range wanted {
		if _, ok := loaded[skill]; ok && !seen[skill] {
			seen[skill] = true
			order = append(order, skill)
		}
	}
	return order
}

func jsonNames(names []string) string {
	data, _ := json.Marshal(names) // strings always encode
	return string(data)
}

// parseNames returns the distinct names of a JSON array, or nil if value is none.
func parseNames(value string) []string {
	var names []string
	if value == "" || len(value) > maxList || json.Unmarshal([]byte(value), &names) != nil {
		return nil
	}
	var unique []string
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if n != "" && !seen[n] {
			seen[n] = true
			unique = append(unique, n)
		}
	}
	return unique
}
