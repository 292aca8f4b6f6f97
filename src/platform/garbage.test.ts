import { expect, it } from 'vitest';
import { collectBuffers } from './garbage.ts';

it('frees buffers that are no longer used, and adds no global', () => {
  const passed = collectBuffers();
  const before = process.memoryUsage().arrayBuffers;
  for (let piece = 0; piece < 1000; piece++) passed(new Uint8Array(1024 ** 2).length);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 ** 2);
  expect('gc' in globalThis).toBe(false);
});
