import { describe, expect, it } from 'vitest';
import { nameTools } from './toolservers.ts';

const names = (...tools: readonly (readonly [string, string])[]) =>
  nameTools(tools.map(([server, tool]) => ({ server, tool })));

describe('names of tools', () => {
  it('are <server>_<tool>', () => {
    expect(names(['weather', 'forecast'], ['git-hub', 'list_issues'])).toEqual([
      'weather_forecast',
      'git-hub_list_issues',
    ]);
  });

  it('have no character that providers refuse', () => {
    expect(names(['files', 'read.file/all é'])).toEqual(['files_read_file_all__']);
  });

  it('have at most 64 characters, and are unique', () => {
    const long = names(
      ['s', 'x'.repeat(62)],
      ['s', 'x'.repeat(63)],
      ['s', `${'x'.repeat(100)}1`],
      ['s', `${'x'.repeat(100)}2`],
    );
    expect(long.map(({ length }) => length)).toEqual([64, 64, 64, 64]);
    expect(new Set(long).size).toBe(4);
    expect(long[0]).toBe(`s_${'x'.repeat(62)}`);
  });

  it('stay unique where two servers make the same one, and are the same every time', () => {
    const [first, second] = names(['a', 'b_c'], ['a_b', 'c']);
    expect(first).toBe('a_b_c');
    expect(second).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(names(['a', 'b_c'], ['a_b', 'c'])).toEqual([first, second]);
  });
});
