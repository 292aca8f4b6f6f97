/**
 * Type-checks all code of docs/ in a copy of the sources, and follows docs/extending.md to its end: a mail and a response of the
 * running copy.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPlace, type Place, root, run } from '../acceptance/running.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { programEnv } from '../programs.fixture.ts';
import { withTag } from './blocks.fixture.ts';

/** The machine may be busy. */
const limitMs = 300_000;
let copy: string;
let place: Place;
const recipes = withTag('ts', 'diff').filter(({ page }) => page === 'docs/extending.md');
const samples = withTag('ts').filter(({ page }) => page !== 'docs/extending.md');
const nameOf = ({ page, line }: { readonly page: string; readonly line: number }) =>
  `src/${page.replaceAll(/\W/g, '-')}-${line}.ts`;

beforeAll(async () => {
  place = await newPlace();
  copy = await mkdtemp(join(tmpdir(), 'atelier-code-'));
  const isProduct = (path: string) => !/\.test\.ts$|console\/web/.test(path);
  await cp(join(root, 'src'), join(copy, 'src'), { recursive: true, filter: isProduct });
  await cp(join(root, 'package.json'), join(copy, 'package.json'));
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const { compilerOptions } = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8'));
  // `npm run check` type-checks the sources, so the quick lane checks only what the samples import.
  const include = isNightly ? ['src'] : samples.map(nameOf);
  await writeFile(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
  for (const sample of samples)
    await writeFile(join(copy, nameOf(sample)), `${sample.given}\n${sample.text}\nexport {};\n`);
  for (const { tag, text } of recipes) {
    if (tag === 'ts') await writeFile(join(copy, /^\/\/ (src\/\S+)/.exec(text)?.[1] ?? ''), text);
    else await apply(text);
  }
});
afterAll(async () => {
  await Promise.all([place.remove(), rm(copy, { recursive: true })]);
});

/** Line numbers in a page may be wrong, because the context of a change determines its position. */
async function apply(diff: string): Promise<void> {
  const applying = promisify(execFile)('git', ['apply', '--recount', '--unsafe-paths', '-'], { cwd: copy });
  applying.child.stdin?.end(diff);
  await applying;
}

describe('docs/', () => {
  let hasErrors: boolean;
  let printed: string;
  /** The files with type errors. */
  let faulty: readonly string[];
  beforeAll(async () => {
    const options = ['--noEmit', '--singleThreaded', '--pretty', 'false'];
    const words = [join(root, 'node_modules/typescript/bin/tsc'), ...options, '--project', copy];
    const checking = promisify(execFile)(process.execPath, words, { cwd: copy });
    const ended = await checking.catch((error: { readonly stdout: string; readonly code: number }) => error);
    hasErrors = 'code' in ended;
    printed = ended.stdout;
    faulty = [...new Set([...printed.matchAll(/^(src\/[^(]+)\(/gm)].map((match) => String(match[1])))];
  }, limitMs);

  it('type-checks', () => {
    expect(samples.length).toBeGreaterThan(1);
    expect(
      faulty.filter((file) => samples.map(nameOf).includes(file)),
      printed,
    ).toEqual([]);
    // In the nightly lane, the language that extending.md adds is missing.
    expect(hasErrors, printed).toBe(isNightly);
  });

  it.runIf(isNightly)('lacks a 13th language exactly where extending.md says', async () => {
    const page = await readFile(join(root, 'docs/extending.md'), 'utf8');
    const section = page.split('\n## ').find((part) => part.startsWith('Add a language')) ?? '';
    const listed = [...section.matchAll(/^\|.*`(src\/[^`]+)`/gm)].map((match) => String(match[1]));
    // Every named file has a fault, and no other file does.
    expect(listed.filter((path) => !faulty.some((file) => file.startsWith(path)))).toEqual([]);
    expect(
      faulty.filter((file) => !listed.some((path) => file.startsWith(path))),
      printed,
    ).toEqual([]);
  });

  it.runIf(isNightly)(
    'extending.md results in a sent notification and a used tool',
    {
      timeout: 2 * limitMs,
    },
    async () => {
      const child = spawn(
        process.execPath,
        [join(copy, 'src/main.ts'), 'start', 'agent', 'memory', 'media', 'edge', 'notify', 'idp'],
        {
          cwd: copy,
          env: { ...programEnv, ...place.env, LOG_LEVEL: 'warn' },
        },
      );
      const ended = once(child, 'exit');
      try {
        let printed = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
        await expect.poll(() => printed, { timeout: limitMs }).toContain('Atelier is ready');
        const { INTERNAL_KEY } = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
        const post = (offset: number, path: string, json: unknown, headers: Record<string, string>) =>
          fetch(`http://127.0.0.1:${place.portBase + offset}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(json),
          });
        const userId = '00000000-0000-4000-8000-00000000000a';
        const contact = { email: 'ada@example.com', locale: 'de' };
        const sent = await post(7, '/notify', { type: 'welcome', userId, contact }, { 'x-internal-key': INTERNAL_KEY });
        const { delivered } = (await sent.json()) as { readonly delivered: readonly { readonly providerId: string }[] };
        const mail = await readFile(join(place.dataDir, 'outbox', `${delivered[0]?.providerId}.eml`), 'utf8');
        expect(mail).toContain('Subject: Willkommen');
        expect(mail).toContain('List-Unsubscribe-Post');

        const token = run('token', [], place.env);
        expect(await token.ended(60_000)).toBe(0);
        const authorization = `Bearer ${token.output().trim()}`;
        const started = await post(4, '/task', { threadId: 't1', text: 'Please roll the dice' }, { authorization });
        const { taskId } = (await started.json()) as { readonly taskId: string };
        const stream = await fetch(`http://127.0.0.1:${place.portBase + 4}/stream/${taskId}`, {
          headers: { authorization },
        });
        expect(await stream.text()).toMatch(/"type":"tool-output-available".*"rolled":[1-6]\b/);
      } finally {
        child.kill('SIGTERM');
        await ended;
      }
    },
  );
});
