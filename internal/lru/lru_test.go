package lru_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/internal/lru"
)

func ExampleNew() {
	c := lru.New(2, func(key string, _ int) { fmt.Println("dropped", key) })
	c.Put("a", 1, 1)
	c.Put("b", 2, 1)
	c.Get("a")
	c.Put("c", 3, 1)
	// Output: dropped b
}

func keys(c *lru.Cache[string, int]) (all []string) {
	for k := range c.All() {
		all = append(all, k)
	}
	return all
}

func TestCache(t *testing.T) {
	var dropped []string
	c := lru.New(10, func(k string, v int) { dropped = append(dropped, fmt.Sprint(k, v)) })
	check := func(what string, want ...string) {
		t.Helper()
		if got := keys(c); !slices.Equal(got, want) || c.Len() != len(want) {
			t.Errorf("%s: %v (Len %d), want %v", what, got, c.Len(), want)
		}
	}
	c.Put("a", 1, 4)
	c.Put("b", 2, 4)
	if v, ok := c.Get("a"); v != 1 || !ok {
		t.Errorf("a is %d, %v", v, ok)
	}
	check("a was used", "a", "b")
	c.Put("c", 3, 4)
	check("no room for b", "c", "a")
	c.Put("a", 5, 6)
	check("a replaced within the limit", "a", "c")
	if v, _ := c.Get("a"); v != 5 {
		t.Errorf("a is %d after it was replaced", v)
	}
	c.Put("d", 4, 99)
	check("the newest stays, whatever it weighs", "d")
	if !c.Remove("d") || c.Remove("d") {
		t.Error("d must be removed exactly once")
	}
	check("nothing is left")
	if want := []string{"b2", "c3", "a5"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v: neither what was removed nor what was replaced", dropped, want)
	}
}

func TestCacheWithoutLimit(t *testing.T) {
	c := lru.New[int, int](0, nil)
	for i := range 1000 {
		c.Put(i, i, 1)
	}
	for k := range c.All() {
		if k%2 == 0 {
			c.Remove(k)
		}
	}
	if c.Len() != 500 {
		t.Errorf("%d are left, want 500", c.Len())
	}
	if _, ok := c.Get(2); ok {
		t.Error("2 was removed")
	}
	for k := range c.All() {
		if k != 999 {
			t.Errorf("the first is %d, want the last put", k)
		}
		break
	}
}
