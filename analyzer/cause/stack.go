package cause

import (
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// stackMarks are what shows that a piece of software is part of the failure:
// parts of a frame's path, or the start of the ids of its messages.
var stackMarks = map[string]struct {
	paths []string
	id    string
}{
	"vllm":               {[]string{"/vllm/"}, "vllm-"},
	"sglang":             {[]string{"/sglang/"}, "sglang-"},
	"megatron":           {[]string{"/megatron/"}, "megatron-"},
	"transformer-engine": {[]string{"/transformer_engine/"}, "te-"},
	"deepspeed":          {[]string{"/deepspeed/"}, "deepspeed-"},
	"trtllm":             {[]string{"/tensorrt_llm/"}, "trtllm-"},
	"inductor":           {[]string{"/torch/_inductor/cudagraph_"}, "inductor-"}, // graph trees, not any compiled code
	"lightning":          {[]string{"/lightning/", "/pytorch_lightning/"}, "lightning-"},
	"transformers":       {[]string{"-packages/transformers/", "/src/transformers/"}, "transformers-"},
	"accelerate":         {[]string{"/accelerate/"}, "accelerate-"},
	"tgi":                {[]string{"/text_generation_server/"}, "tgi-"},
	"lmdeploy":           {[]string{"/lmdeploy/"}, "lmdeploy-"},
	"composer":           {[]string{"/composer/"}, "composer-"},
}

// ownPools is the software that captures by itself and shares one pool over its
// captures. Where none of it shows, "pytorch" is what captures.
var ownPools = []string{"vllm", "sglang", "megatron", "transformer-engine", "trtllm", "tgi", "lmdeploy", "inductor"}

// stack: frames show what ran, and where they show a capture, who captured. Else
// messages show what the process that printed them uses, though it may have failed
// elsewhere; without any frame those of the whole run have to do.
func (q *Inquiry) stack(name string, e *message.Event) proof {
	if name == "pytorch" {
		var any []signatures.When
		for _, own := range ownPools {
			any = append(any, signatures.When{Stack: own})
		}
		p := q.any(any, e)
		return proof{holds: not(p.holds)}
	}
	mark := stackMarks[name]
	frames := 0
	for _, tb := range q.chain(e) {
		frames += len(tb.Frames)
		for _, f := range tb.Frames {
			if slices.ContainsFunc(mark.paths, func(path string) bool { return strings.Contains(f.Path, path) }) {
				return proven(incident.Yes, tb.First.Location(), short(f.Path))
			}
		}
	}
	result := proof{holds: incident.No}
	if frames > 0 && q.inCapture(e).holds == incident.Yes {
		return result
	}
	for _, other := range q.Run.Events {
		switch {
		case mark.id == "" || !strings.HasPrefix(other.ID, mark.id):
		case frames == 0 || !q.Run.Several || timeline.Same(other.Origin, e.Origin):
			return proven(incident.Yes, other.At.Location(), "")
		case !other.Origin.Known() || !e.Origin.Known():
			result.holds = incident.Unknown
		}
	}
	return result
}
