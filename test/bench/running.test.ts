/** `npm run bench`: which rows it prints, and that it ends with a table whatever a benchmark does. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBenches } from '../../bench/running.ts';

const list = new URL('fakes.fixture.ts', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'atelier-bench-'));
const pidFile = join(folder, 'pid');
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...words: string[]) {
  const lines: string[] = [];
  const code = await runBenches(list, words, { write: (line) => lines.push(line) });
  return { code, lines, table: lines.find((line) => line.includes('benchmark')) ?? '', end: lines.at(-1) };
}

describe('the runner of benchmarks', () => {
  let all: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    process.env.FAKE_BENCH_PID_FILE = pidFile;
    all = await run();
  });

  it('prints each row below the name of its benchmark, before the table', () => {
    const good = all.lines.indexOf('good');
    expect(all.lines[good + 1]).toBe('  yes 0.5 (at most 1): fast enough, against a fake');
    expect(all.lines).toContain('  NO  1.5 (at most 1): too slow, against a fake');
    expect(all.lines.indexOf('last')).toBeLessThan(all.lines.indexOf(all.table));
  });

  it('skips a benchmark or a row whose program is missing, and says what to install', () => {
    const hint = 'someprogram is missing: apt-get install someprogram';
    expect(all.lines).toContain(`  skipped: all rows. ${hint}`);
    expect(all.lines).toContain('  yes 0.25 (at most 1): without a peer, against a fake');
    expect(all.lines).toContain(`  skipped: with a peer. ${hint}`);
  });

  it('goes on after a benchmark that throws or exits, and keeps its rows', () => {
    expect(all.lines).toContain('  yes 0.75 (at most 1): before the fault, against a fake');
    expect(all.lines).toContain('  broken: the peer returned 500');
    expect(all.lines).toContain('  broken: it ended before its last row (exit code 3)');
    expect(all.lines.find((line) => line.includes('a-package-that-is-not-there'))).toMatch(/^ {2}broken: /);
    expect(all.lines).toContain('last');
  });

  it('ends a benchmark that hangs at its deadline, with the programs that it has started', async () => {
    expect(all.lines).toContain('  yes 0.125 (at most 1): before it hangs, against a fake');
    expect(all.lines).toContain('  broken: it took longer than 3 s');
    const pid = Number(readFileSync(pidFile, 'utf8'));
    const isRunning = () => {
      try {
        return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    };
    await expect.poll(isRunning).toBe(false);
  });

  it('ends with a table of all rows and their counts', () => {
    for (const word of ['fast enough', 'too slow', 'skipped', 'broken', 'the peer returned 500', 'part'])
      expect(all.table).toContain(word);
    expect(all.end).toContain('5 within the bound, 1 outside, 2 skipped, 4 broken.');
  });

  it('exits with 1 only for a row outside its bound', async () => {
    expect(all.code).toBe(1);
    expect((await run('good', 'alone', 'throws', 'exits')).code).toBe(0);
    expect((await run('slow')).code).toBe(1);
  });

  it('runs the benchmarks whose names begin with a word, and passes on a part', async () => {
    const { code, lines } = await run('la:one');
    expect(lines).toContain('  yes 0.0625 (at most 1): part one, against a fake');
    expect(code).toBe(0);
    const unknown = await run('nothing');
    expect(unknown.code).toBe(2);
    expect(unknown.end).toContain('good, slow, alone');
  });
});
