import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFolder } from './lock.ts';

const script = `
  const [folder, lockModule] = process.argv.slice(1);
  const { lockFolder } = await import(lockModule);
  try {
    await lockFolder(folder);
    process.stdout.write('locked');
    setInterval(() => undefined, 1000);
  } catch (error) {
    process.stdout.write(error.message);
  }`;

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-lock-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await rm(folder, { recursive: true });
});

/** A process that tries to lock the folder. `outcome` is `locked`, or the refusal. */
function tryInProcess(): { readonly child: ChildProcess; readonly outcome: Promise<string> } {
  const lockModule = import.meta.resolve('./lock.ts');
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder, lockModule]);
  children.push(child);
  const outcome = new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))));
  return { child, outcome };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

describe('the lock on the data folder', () => {
  it('refuses a second process in one line that names the folder and the first', async () => {
    const first = tryInProcess();
    expect(await first.outcome).toBe('locked');
    const refusal = await tryInProcess().outcome;
    expect(refusal).toContain(`ATELIER_DATA_DIR ${folder} is in use by process ${first.child.pid}, started 20`);
    expect(refusal).not.toContain('\n');
    expect(first.child.exitCode).toBeNull();
  });

  it('refuses a second one of the same process', async () => {
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(`is in use by process ${process.pid}`);
    lock.release();
    lock.release();
    const again = await lockFolder(folder);
    again.release();
    expect(existsSync(join(folder, 'instance.json'))).toBe(false);
  });

  it('ends with its process, regardless of the files that remain', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { child, outcome } = tryInProcess();
      expect(await outcome).toBe('locked');
      await kill(child);
    }
    expect(JSON.parse(await readFile(join(folder, 'instance.json'), 'utf8')).pid).toBeTypeOf('number');
    const lock = await lockFolder(folder);
    expect(JSON.parse(await readFile(join(folder, 'instance.json'), 'utf8')).pid).toBe(process.pid);
    lock.release();
  });

  it('is acquired by exactly one of twenty concurrent processes', { timeout: 120_000 }, async () => {
    const tries = Array.from({ length: 20 }, tryInProcess);
    const outcome = await Promise.all(tries.map((each) => each.outcome));
    expect(outcome.filter((each) => each === 'locked')).toHaveLength(1);
    const winner = tries[outcome.indexOf('locked')]?.child.pid;
    const refusals = outcome.filter((each) => each !== 'locked');
    for (const refusal of refusals) expect(refusal).toContain(`in use by process ${winner}`);
  });

  it('creates the folder, and names one that cannot be created', async () => {
    const lock = await lockFolder(join(folder, 'new', 'deep'));
    lock.release();
    await writeFile(join(folder, 'file'), '');
    await expect(lockFolder(join(folder, 'file'))).rejects.toThrow(
      /^Configuration: ATELIER_DATA_DIR .* cannot be locked/,
    );
  });

  it('is refused if its path is another kind of file, which is unchanged', async () => {
    await writeFile(join(folder, 'lock'), 'x'.repeat(5000));
    await expect(lockFolder(folder)).rejects.toThrow('cannot be locked');
    expect((await readFile(join(folder, 'lock'), 'utf8')).length).toBe(5000);
  });
});
