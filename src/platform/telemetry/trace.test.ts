import { describe, expect, it } from 'vitest';
import { newTrace, readBaggage, readTrace, writeTrace } from './trace.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('traceparent', () => {
  it.each([
    ['recorded', `00-${traceId}-${spanId}-01`, true],
    ['not recorded', `00-${traceId}-${spanId}-00`, false],
    ['with unknown flags', `00-${traceId}-${spanId}-ff`, true],
    ['of a later version', `01-${traceId}-${spanId}-01`, true],
    ['of a later version with more', `cc-${traceId}-${spanId}-01-what-the-future-will-be-like`, true],
  ])('%s', (_name, traceparent, sampled) => {
    expect(readTrace({ traceparent })).toEqual({ traceId, spanId, sampled });
  });

  it.each([
    ['none', undefined],
    ['empty', ''],
    ['two of them', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
    ['upper case', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['the forbidden version', `ff-${traceId}-${spanId}-01`],
    ['version 00 with more', `00-${traceId}-${spanId}-01-x`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a short trace', `00-${traceId.slice(1)}-${spanId}-01`],
    ['no flags', `00-${traceId}-${spanId}`],
    ['a later version with trailing characters', `01-${traceId}-${spanId}-01x`],
    ['other characters', `00-${traceId.slice(0, -1)}g-${spanId}-01`],
    ['spaces around', ` 00-${traceId}-${spanId}-01`],
  ])('%s is ignored, with its tracestate', (_name, traceparent) => {
    expect(readTrace({ traceparent, tracestate: 'a=1' })).toBeUndefined();
  });
});

describe('tracestate and baggage', () => {
  const traceparent = `00-${traceId}-${spanId}-01`;
  it('are passed on unchanged', () => {
    expect(readTrace({ traceparent, tracestate: 'rojo=1,congo=t61rcWkgMzE' })?.state).toBe('rojo=1,congo=t61rcWkgMzE');
    expect(readBaggage({ baggage: 'userId=alice;p=1, b=2' })).toBe('userId=alice;p=1, b=2');
  });

  it.each([
    ['too long', 'x'.repeat(513), 'x'.repeat(8193)],
    ['empty', '', ''],
    ['not ASCII', 'a=ü', 'a=ü'],
    ['a line break', 'a=1\r\nx-internal-key: k', 'a=1\r\nx-internal-key: k'],
  ])('drops one that is %s', (_name, tracestate, baggage) => {
    expect(readTrace({ traceparent, tracestate })).toEqual({ traceId, spanId, sampled: true });
    expect(readBaggage({ baggage })).toBeUndefined();
  });
});

it('parses its own output', () => {
  for (let round = 0; round < 100; round += 1) {
    const trace = { ...newTrace(), sampled: round % 2 === 0, ...(round % 3 === 0 ? { state: 'a=1' } : {}) };
    expect(readTrace(writeTrace(trace))).toEqual(trace);
  }
});

it('never parses a damaged header as another trace', () => {
  const good = `00-${traceId}-${spanId}-01`;
  for (let index = 0; index < good.length; index += 1) {
    for (const character of ['-', 'g', 'F', ' ', ',', '\u0000']) {
      const damaged = good.slice(0, index) + character + good.slice(index + 1);
      if (damaged !== good) expect([damaged, readTrace({ traceparent: damaged })]).toEqual([damaged, undefined]);
    }
    expect(readTrace({ traceparent: good.slice(0, index) })).toBeUndefined();
  }
});
