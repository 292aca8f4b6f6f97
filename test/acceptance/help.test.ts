/** Every `npm run` command explains itself with `--help` and does nothing else. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plans } from '#accounts/api.ts';
import { root } from './running.fixture.ts';

const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

describe('--help', () => {
  /** A clone without node_modules: a command that did more would have to install them first. */
  let clone: string;
  let files: readonly string[];
  beforeAll(async () => {
    clone = await mkdtemp(join(tmpdir(), 'atelier-help-'));
    for (const name of ['package.json', 'package-lock.json', 'launch.mjs', 'src/commands'])
      await cp(join(root, name), join(clone, name), { recursive: true });
    files = await readdir(clone, { recursive: true });
  });
  afterAll(() => rm(clone, { recursive: true }));

  const npm = (...words: readonly string[]) => promisify(execFile)('npm', words, { cwd: clone });
  const launcher = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, [join(clone, 'launch.mjs'), ...words]);

  // npm runs this one itself.
  const commands = Object.keys(scripts).filter((name) => name !== 'postinstall');

  it.each(commands)('npm run %s -- --help', async (name) => {
    // npm would start the launcher in the same way, but takes a multiple of its time.
    expect(scripts[name]).toBe(`exec node launch.mjs ${name}`);
    const { stdout, stderr } = await launcher(name, '--help');
    const command = ['start', 'test'].includes(name) ? `npm ${name}` : `npm run ${name}`;
    expect(stdout).toMatch(new RegExp(`^Usage: ${command}( |$)`, 'm'));
    expect(stderr).toBe('');
    expect(await readdir(clone, { recursive: true })).toEqual(files);
  });

  it('names every plan', async () => {
    expect((await launcher('credits', '--help')).stdout).toContain(`Plans: ${plans.join(', ')}.`);
  });

  it('counts after other arguments, and as -h', async () => {
    expect((await npm('start', '--silent', '--', 'media', '--help')).stdout).toContain('Usage: npm start');
    expect((await npm('test', '--silent', '--', '-h')).stdout).toContain('Usage: npm test');
  });

  it('lists the commands if the command is unknown', async () => {
    const failed = await launcher('dctor', '--help').catch(
      (error: { readonly code: number; readonly stderr: string }) => error,
    );
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('doctor') });
  });
});
