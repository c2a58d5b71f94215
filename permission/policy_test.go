package permission

import "testing"

func TestPolicyText(t *testing.T) {
	for i, name := range policies {
		var p Policy
		if err := p.UnmarshalText([]byte(name)); err != nil || p != Policy(i) || p.String() != name || !p.Valid() {
			t.Errorf("%q is %v, %v", name, p, err)
		}
	}
	for i, name := range combinations {
		var c Combine
		if err := c.UnmarshalText([]byte(name)); err != nil || c != Combine(i) || c.String() != name || !c.Valid() {
			t.Errorf("%q is %v, %v", name, c, err)
		}
	}
	var p Policy
	var c Combine
	if p.UnmarshalText([]byte("deny")) == nil || c.UnmarshalText(nil) == nil || Policy(7).Valid() || Policy(7).String() != "permission.Policy(7)" {
		t.Error("an unknown name is taken")
	}
}
