package weir

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settle settles messages of claims in one statement, and so all or none.
func (p *postgres) settle(ctx context.Context, verb verb, queue string, items []settlement) ([]int, error) {
	if first := items[0]; verb == finish {
		return list[int](ctx, p, "finish job", sqlFinish, queue, first.claim, first.ids[0], textOf(first.result))
	} else if verb == ack && len(items) == 1 {
		switch len(first.ids) {
		case 0:
			return list[int](ctx, p, "ack claim", sqlAckAll, queue, first.claim)
		case 1:
			return list[int](ctx, p, "ack message", sqlAck, queue, first.claim, first.ids[0])
		}
	}
	claims, ids := make([]int64, len(items)), make([]*string, len(items))
	delays, reasons := make([]*string, len(items)), make([]*string, len(items))
	for i, item := range items {
		claims[i], delays[i], reasons[i] = item.claim, interval(item.delay), orNull(item.reason)
		if text, ok := plainArg(item.ids).(string); ok {
			ids[i] = &text
		}
	}
	switch verb {
	case nack:
		return list[int](ctx, p, "nack messages", sqlNack, queue, claims, ids, delays, reasons)
	case reject:
		return list[int](ctx, p, "reject messages", sqlReject, queue, claims, ids, reasons)
	case release:
		return list[int](ctx, p, "release messages", sqlRelease, queue, claims, ids)
	case snooze:
		return list[int](ctx, p, "snooze messages", sqlSnooze, queue, claims, ids, delays)
	case ack, finish:
	}
	return list[int](ctx, p, "ack messages", sqlAckMany, queue, claims, ids)
}

// settleEach settles messages of claims, each whether or not another can be: jobs with their results, or all else.
func (p *postgres) settleEach(ctx context.Context, queue string, items []settlement) ([]*int, error) {
	if first := items[0]; len(items) == 1 {
		counts, err := p.settle(ctx, first.verb, queue, items)
		if err != nil || len(counts) == 0 {
			return nil, err
		}
		return []*int{&counts[0]}, nil
	} else if first.verb == finish {
		return p.finishEach(ctx, queue, items)
	}
	verbs, claims, ids := make([]string, len(items)), make([]int64, len(items)), make([]string, len(items))
	delays, reasons := make([]*string, len(items)), make([]*string, len(items))
	for i, item := range items {
		verbs[i], claims[i], ids[i] = string(item.verb), item.claim, rangesOf(item.ids)
		delays[i], reasons[i] = interval(item.delay), orNull(item.reason)
	}
	return list[*int](ctx, p, "settle messages", sqlSettleMany, queue, verbs, claims, ids, delays, reasons)
}

// rangesOf writes ids as a multirange of PostgreSQL, all there are when none are named.
func rangesOf(ids []int64) string {
	if ids == nil {
		return "{(,)}"
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var ranges []string
	for begin := 0; begin < len(ids); {
		end := begin + 1
		for end < len(ids) && ids[end] == ids[end-1]+1 {
			end++
		}
		ranges = append(ranges, fmt.Sprintf("[%d,%d]", ids[begin], ids[end-1]))
		begin = end
	}
	return "{" + strings.Join(ranges, ",") + "}"
}

func (p *postgres) extend(
	ctx context.Context, queue, _ string, claims []int64, lease time.Duration,
) ([]time.Time, error) {
	return list[time.Time](ctx, p, "extend claims", sqlExtend, queue, claims, interval(&lease))
}

// extendEach extends claims, each whether or not another can be.
func (p *postgres) extendEach(
	ctx context.Context, queue, group string, claims []int64, lease time.Duration,
) ([]bool, error) {
	if len(claims) == 1 {
		_, err := p.extend(ctx, queue, group, claims, lease)
		return []bool{err == nil}, err
	}
	return list[bool](ctx, p, "extend claims", sqlExtendMany, queue, claims, interval(&lease))
}
