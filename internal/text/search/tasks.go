package search

import (
	"encoding/binary"
	"math"
)

// taskUnits is how many units a taskNet has.
const taskUnits = 64

// taskBytes is the length of a taskNet in the model.
const taskBytes = taskUnits*vectorSize + 4*(2*taskUnits+1)

// taskNet is a small neural network. It tells messages that ask for a task, which a skill may be for, from
// questions of knowledge, chat and small requests, which a model answers by itself.
type taskNet struct {
	weights          [taskUnits]vector
	offsets, outputs [taskUnits]float32
	base             float32
}

// readTaskNet reads the weights of the units one after the other, their offsets, their outputs, and the base.
func readTaskNet(data string) *taskNet {
	n := new(taskNet)
	for unit := range n.weights {
		for i := range n.weights[unit] {
			n.weights[unit][i] = int8(data[unit*vectorSize+i])
		}
	}
	data = data[taskUnits*vectorSize:]
	number := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32([]byte(data[4*i:]))) }
	for unit := range taskUnits {
		n.offsets[unit], n.outputs[unit] = number(unit), number(taskUnits+unit)
	}
	n.base = number(2 * taskUnits)
	return n
}

// score returns how much a message is a task. v is its vector.
func (n *taskNet) score(v *vector) float64 {
	sum, scale := n.base, float32(inverseRoot(v.dot(v)))
	for unit := range n.weights {
		if x := float32(n.weights[unit].dot(v))*scale + n.offsets[unit]; x > 0 {
			sum += x * n.outputs[unit]
		}
	}
	return float64(sum)
}
