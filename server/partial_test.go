package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"go.lsp.dev/protocol"
)

// progressed is a client that notes the partial results that it is sent.
type progressed struct {
	protocol.Client
	tokens []string
	values []json.RawMessage
	fail   error
}

func (p *progressed) Progress(_ context.Context, params *protocol.ProgressParams) error {
	if p.fail != nil {
		return p.fail
	}
	token, err := protocol.Marshal(params.Token)
	if err != nil {
		return err
	}
	p.tokens, p.values = append(p.tokens, string(token)), append(p.values, json.RawMessage(slices.Clone(params.Value)))
	return nil
}

func locations(n int) []protocol.Location {
	list := make([]protocol.Location, n)
	for i := range list {
		list[i] = protocol.Location{URI: "file:///a.log", Range: protocol.Range{Start: protocol.Position{Line: uint32(i)}}}
	}
	return list
}

func TestDeliver(t *testing.T) {
	for _, tt := range []struct {
		name         string
		token        protocol.ProgressToken
		items        int
		sent, result []int
	}{
		{"nothing", protocol.String("t"), 0, nil, []int{0}},
		{"a short answer needs no pieces", protocol.String("t"), pieceSize, nil, []int{pieceSize}},
		{"a long one comes in pieces", protocol.String("t"), 2*pieceSize + 1, []int{pieceSize, pieceSize, 1}, []int{0}},
		{"whole pieces", protocol.Integer(7), 2 * pieceSize, []int{pieceSize, pieceSize}, []int{0}},
		{"not asked for", nil, 1000, nil, []int{1000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := &progressed{}
			s := &Server{client: client}
			items := locations(tt.items)
			got, err := deliver(t.Context(), s, tt.token, slices.Clone(items))
			if err != nil {
				t.Fatal(err)
			}
			if got == nil || len(got) != tt.result[0] {
				t.Errorf("the response holds %d items, nil %v; want %d", len(got), got == nil, tt.result[0])
			}
			var all []protocol.Location
			var sizes []int
			for i, value := range client.values {
				var piece []protocol.Location
				if err := protocol.Unmarshal(value, &piece); err != nil {
					t.Fatalf("%s: %v", value, err)
				}
				all, sizes = append(all, piece...), append(sizes, len(piece))
				if want, _ := protocol.Marshal(tt.token); client.tokens[i] != string(want) {
					t.Errorf("token %s, want %s", client.tokens[i], want)
				}
			}
			if !slices.Equal(sizes, tt.sent) {
				t.Errorf("pieces of %v, want %v", sizes, tt.sent)
			}
			if all = append(all, got...); !slices.Equal(all, items) {
				t.Errorf("%d items arrived, or in another order; want %d", len(all), len(items))
			}
		})
	}
}

func TestDeliverGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := deliver(ctx, &Server{client: &progressed{}}, protocol.String("t"), locations(1000)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request: %v", err)
	}
	gone := errors.New("gone")
	if _, err := deliver(t.Context(), &Server{client: &progressed{fail: gone}}, protocol.String("t"), locations(1000)); !errors.Is(err, gone) {
		t.Errorf("a client that is gone: %v", err)
	}
}

func TestPiecesThatAreFlushed(t *testing.T) {
	client := &progressed{}
	out := pieces(&Server{client: client}, protocol.String("t"), func(piece []string) any { return map[string][]string{"items": piece} })
	for _, item := range []string{"a", "b"} {
		if err := errors.Join(out.add(t.Context(), item), out.flush(t.Context()), out.flush(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	rest, err := out.rest(t.Context())
	if err != nil || len(rest) != 0 || len(client.values) != 2 || string(client.values[0]) != `{"items":["a"]}` {
		t.Errorf("%s were sent, %v is left: %v", client.values, rest, err)
	}
}
