package search

import (
	"encoding/binary"
	"math"
)

// taskUnits is how many units a taskNet has.
const taskUnits = 32

// taskBytes is the length of a taskNet in the model.
const taskBytes = taskUnits*messageParts*vectorSize + 4*(2*taskUnits+1)

// taskNet is a small neural network. It tells messages that ask for a task, which a skill may be for, from
// questions of knowledge, chat and small requests, which a model answers by itself.
type taskNet struct {
	weights          [taskUnits][messageParts]vector // for each part of a message
	offsets, outputs [taskUnits]float32
	base             float32
}

// readTaskNet reads the weights of the units one after the other, their offsets, their outputs, and the base.
func readTaskNet(data string) *taskNet {
	n := new(taskNet)
	for unit := range n.weights {
		for part := range messageParts {
			weights := &n.weights[unit][part]
			for i := range weights {
				weights[i] = int8(data[i])
			}
			data = data[vectorSize:]
		}
	}
	number := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32([]byte(data[4*i:]))) }
	for unit := range taskUnits {
		n.offsets[unit], n.outputs[unit] = number(unit), number(taskUnits+unit)
	}
	n.base = number(2 * taskUnits)
	return n
}

// score returns how much a message is a task.
func (n *taskNet) score(m *messageVectors) float64 {
	var scales [messageParts]float32
	for part := range m.parts {
		scales[part] = float32(inverseRoot(m.parts[part].dot(&m.parts[part])))
	}
	sum := n.base
	for unit := range n.weights {
		x := n.offsets[unit]
		for part := range m.parts {
			x += float32(n.weights[unit][part].dot(&m.parts[part])) * scales[part]
		}
		if x > 0 {
			sum += x * n.outputs[unit]
		}
	}
	return float64(sum)
}
