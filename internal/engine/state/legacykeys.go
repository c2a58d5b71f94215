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

// Keys without an agent are an older form that is read and never written.
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

// LoadedKey returns the state key that says that agent has loaded skill. Both
// names are escaped as segments of a URL path, so no two pairs share a key.
func LoadedKey(agent, skill string) string {
	return loadedPrefix + url.PathEscape(agent) + "/" + url.PathEscape(skill)
}

// DocsKey returns the state key of agent's selection of docs of skill.
func DocsKey(agent, skill string) string {
	return docsPrefix + url.PathEscape(agent) + "/" + url.PathEscape(skill)
}

// OrderKey returns the state key of the load order of agent's skills.
func OrderKey(agent string) string { return orderPrefix + url.PathEscape(agent) }

// WriteKeys returns the loaded skills of a record as state keys. A skill has "1". Its docs have
// "*", or a JSON array of their names. The order of the skills is one more array. What is not
// loaded or not selected has no key.
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

// ReadKeys returns a new record with the skills that keys have loaded for key.Agent. It has no
// digests and no deliveries, because nothing was brought into view yet.
//
// ReadKeys takes the keys that [WriteKeys] returns, also with names that were not escaped, and the
// older keys without an agent. If several keys are about one skill, one with an agent wins
// over the older form, and an empty value means that the key was cleared. Skills are in the
// order of the order keys, then by name, and count as used in that order. An invalid value
// means no selection or no order. More than 10,000 skills are an error.
func ReadKeys(key core.SessionKey, keys map[string]string) (*Record, error) {
	loaded, docs := map[string]named{}, map[string]named{}
	for k, v := range keys {
		collect(loaded, k, v, key.Agent, loadedPrefix, legacyLoadedPrefix)
		collect(docs, k, v, key.Agent, docsPrefix, legacyDocsPrefix)
	}
	maps.DeleteFunc(loaded, func(_ string, n named) bool { return n.value != loadedValue })
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

// named is the value of a key for one skill. Several spellings can name the
// same skill; the one of the highest rank counts.
type named struct {
	value string
	rank  int
}

const (
	rankLegacy = iota + 1
	rankRaw
	rankEscaped
)

// collect adds the value of k to found if k is a key of agent.
func collect(found map[string]named, k, value, agent, prefix, legacy string) {
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
		found[skill] = named{value, rank}
	} else if old.rank == rank {
		// Two raw spellings: choose by value, as map order must not decide.
		found[skill] = named{max(old.value, value), rank}
	}
}

// unescapeName undoes the escaping of a name. Text that escaping could not have
// produced is a name that was never escaped, and stays as it is; so every string
// names exactly one thing.
func unescapeName(s string) (name string, escaped bool) {
	name, err := url.PathUnescape(s)
	if err != nil || url.PathEscape(name) != s {
		return s, false
	}
	return name, true
}

// loadOrder returns the names of loaded in load order.
func loadOrder(loaded map[string]named, state map[string]string, agent string) []string {
	wanted := parseNames(state[OrderKey(agent)])
	if name, _ := unescapeName(agent); name == agent { // else that key is another agent's
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

// parseNames reads a JSON array of names without repetition; anything else is
// none.
func parseNames(value string) []string {
	var names []string
	if value == "" || len(value) > maxList || json.Unmarshal([]byte(value), &names) != nil {
		return nil
	}
	var once []string
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if n != "" && !seen[n] {
			seen[n] = true
			once = append(once, n)
		}
	}
	return once
}
