/** Runs every runnable block of README and docs/ unchanged; see blocks.fixture.ts. Links must lead to existing files. */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '#app/config.ts';
import { settingGroups } from '#app/settings.ts';
import { renderClip } from '#commands/demo/clip.ts';
import { renderLandscape } from '#commands/demo/samplephoto.ts';
import { newPlace, type Place, type Program, root, run } from '../acceptance/running.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { blocks, withTag } from './blocks.fixture.ts';

describe('blocks', () => {
  it('all have a known tag', () => {
    expect(blocks.length).toBeGreaterThan(15);
    const known = ['sh', 'ts', 'diff', 'json', 'yaml', 'env', 'ini', 'sql', 'text'];
    expect(blocks.filter(({ tag }) => !known.includes(tag)).map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it.each(withTag('json', 'yaml', 'env', 'ini'))('$page:$line is $tag', ({ tag, text }) => {
    if (tag === 'json') expect(() => JSON.parse(text)).not.toThrow();
    else if (tag === 'yaml') expect(parse(text)).toBeTypeOf('object');
    else if (tag === 'ini') expect(text).toMatch(/^(\[\w+\]\n|#.*\n|[A-Za-z]+=.+\n)+$/);
    else {
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      const env = Object.fromEntries(lines.map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]));
      const known = Object.values(settingGroups).flatMap((group) =>
        Object.values(group).map(({ variable }) => variable),
      );
      expect(Object.keys(env).filter((name) => !known.includes(name as never))).toEqual([]);
      expect(() => readConfig(env, [], { keepSecrets: false })).not.toThrow();
    }
  });
});

describe('pages', () => {
  const pages = globSync('{*.md,docs/{,guides/}*.md}', { cwd: root });
  it.each(pages)('%s links to existing files', (page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((match) =>
      join(dirname(page), String(match[1])),
    );
    const named = [...text.matchAll(/`((?:src|test|deploy|docs|bench)\/[\w./-]+)`/g)].map((match) => String(match[1]));
    // git ignores the operator's own files.
    const operators = readFileSync(join(root, '.gitignore'), 'utf8').split('\n');
    const isThere = (path: string) => existsSync(join(root, path)) || operators.includes(path);
    expect([...links, ...named].filter((path) => !isThere(path))).toEqual([]);
  });
});

describe.skipIf(skipWithout('bash', 'curl', 'ffmpeg'))('commands', () => {
  let place: Place;
  let running: Program;
  let folder: string;

  beforeAll(async () => {
    place = await newPlace();
    folder = await mkdtemp(join(tmpdir(), 'atelier-pages-'));
    await sharp(await renderLandscape()).toFile(join(folder, 'photo.jpg'));
    await writeFile(join(folder, 'clip.mp4'), (await renderClip()) ?? '');
    running = run('start', [], place.env);
    await running.waitFor('Atelier is ready', 280_000);
  }, 300_000);
  afterAll(async () => {
    running.child.kill('SIGTERM');
    await running.ended(60_000);
    await Promise.all([place.remove(), rm(folder, { recursive: true })]);
  });

  /** Runs the blocks of one page in one shell. Only the ports, the data folder, Node and the path to the package are replaced. */
  async function runPage(page: string): Promise<string> {
    const lines = withTag('sh')
      .filter((block) => block.page === page)
      .map(({ text }) => text);
    const script = lines
      .join('\n')
      .replaceAll(/\blocalhost:40(\d\d)\b/g, (_, offset) => `localhost:${place.portBase + Number(offset)}`)
      .replaceAll(/\bdata\//g, `${place.dataDir}/`);
    const npm = `npm() { shift; [ "$1" = -s ] && shift; local name=$1; shift; [ "\${1:-}" = -- ] && shift; node ${join(root, 'launch.mjs')} "$name" "$@"; }`;
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', `${npm}\n${script}`], {
      cwd: folder,
      env: { ...place.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    });
    return stdout;
  }

  it('README drives every service with curl', async () => {
    const stdout = await runPage('README.md');
    expect(stdout).toContain('data: [DONE]');
    expect(stdout).toContain('"deduplicated":false');
    expect(stdout).toContain('"visible":true');
    expect(stdout).toMatch(/^\{"id":"[0-9a-f-]{36}"\}$/m);
    const preview = stdout.match(/^http:\S+$/m)?.[0];
    const card = JSON.parse(stdout.slice(stdout.lastIndexOf('{"variants"'))).variants.card;
    for (const [address, width] of [
      [preview, 1024],
      [card, 640],
    ] as const) {
      const answer = await fetch(String(address));
      expect(answer.status).toBe(200);
      expect((await sharp(await answer.arrayBuffer()).metadata()).width).toBe(width);
    }
  });

  const others = [...new Set(withTag('sh').map(({ page }) => page))].filter((page) => page !== 'README.md');
  it.each(others)('%s', async (page) => {
    expect((await runPage(page)).trim()).not.toBe('');
  });
});
