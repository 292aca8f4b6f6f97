import { Counter, Gauge, Registry } from '@prometheus-io/client';
import { expect, it } from 'vitest';
import { parseSamples } from './overview.ts';

it('parses the metrics of the services', async () => {
  const registry = new Registry();
  new Counter({ name: 'answers', help: 'a', labelNames: ['route'], registers: [registry] }).inc(
    { route: 'a"b\\c\nd' },
    3,
  );
  new Gauge({ name: 'plain', help: 'b', registers: [registry] }).set(1.5e-3);
  expect(parseSamples(await registry.metrics())).toEqual([
    { name: 'answers', labels: { route: 'a"b\\c\nd' }, value: 3 },
    { name: 'plain', labels: {}, value: 0.0015 },
  ]);
});

it.each(['', '# HELP x y', 'nonsense', '<html>', 'x NaN', 'x +Inf'])('finds no sample in %j', (text) => {
  expect(parseSamples(text)).toEqual([]);
});
