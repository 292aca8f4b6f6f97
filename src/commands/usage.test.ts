import { describe, expect, it } from 'vitest';
import { readArguments } from './usage.ts';

const options = { bucket: { type: 'string' }, apply: { type: 'boolean', default: false } } as const;
const read = (...args: string[]) => readArguments('sweep', args, { least: 1, most: 2, options });

describe('the arguments of a command', () => {
  it.each([[['--bucket=x', 'a']], [['--bucket', 'x', 'a']], [['a', '--bucket', 'x']]])(
    '%j: the value of an option follows after = or as the next argument',
    (args) => {
      expect(read(...args)).toEqual({ words: ['a'], values: expect.objectContaining({ bucket: 'x', apply: false }) });
    },
  );

  it('are words after --', () => {
    expect(read('--apply', '--', '--bucket').words).toEqual(['--bucket']);
    expect(read('--apply', 'a').values.apply).toBe(true);
  });

  it.each([
    [['--force', 'a'], "Unknown option '--force'."],
    [['-f', 'a'], "Unknown option '-f'."],
    [['a', '--bucket'], "Option '--bucket <value>' argument missing."],
    [['a', '--apply=yes'], "Option '--apply' does not take an argument."],
    [[], ''],
    [['a', 'b', 'c'], ''],
  ])('%j: one line names the fault and shows the usage', (args, fault) => {
    const usage = 'Usage: npm run sweep [-- [--apply] [--accept-lost-buckets]].';
    expect(() => read(...args)).toThrow(`${fault} ${usage}`.trim());
    expect(() => read(...args)).not.toThrow('\n');
  });
});
