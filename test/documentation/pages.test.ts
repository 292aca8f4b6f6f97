/** Runs the commands of README and docs/ unchanged, and sends their requests; see blocks.fixture.ts. Links lead to existing files. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLandscape, renderClip } from '#commands/demo/media.ts';
import { newLanePlace, type Place, type Program, root, run } from '../acceptance/running.fixture.ts';
import { everyNth } from '../lane.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { pages, withTag } from './blocks.fixture.ts';
import { portOf, requestsOf } from './requests.fixture.ts';

describe('pages', () => {
  it.each(pages)('%s links to existing files', (page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
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

/** The offline model extracts no memories, and the image of the example does not exist. */
const otherStatuses: Readonly<Record<string, number>> = { 'POST /memory/extract': 503, 'POST /v1/ensure': 502 };

describe.skipIf(skipWithout('bash', 'curl', 'ffmpeg'))('commands', () => {
  let place: Place;
  let running: Program;
  let folder: string;

  beforeAll(async () => {
    place = await newLanePlace();
    folder = await mkdtemp(join(tmpdir(), 'atelier-pages-'));
    await sharp(await readLandscape()).toFile(join(folder, 'photo.jpg'));
    await writeFile(join(folder, 'clip.mp4'), (await renderClip()) ?? '');
    running = run('start', [], place.env);
    await running.waitFor('Atelier is ready', 280_000);
  }, 300_000);
  afterAll(async () => {
    running.child.kill('SIGTERM');
    await running.ended(60_000);
    await Promise.all([place.remove(), rm(folder, { recursive: true })]);
  });

  let token = '';
  const secretOf = async (name: string): Promise<string> =>
    JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'))[name];

  /** Runs the blocks of one page in one shell. */
  const runPage = (page: string) =>
    runShell(
      withTag('sh')
        .filter((block) => block.page === page)
        .map(({ text }) => text)
        .join('\n'),
    );

  /** Only the ports, the data folder, Node and the path to the package are replaced. */
  async function runShell(lines: string): Promise<string> {
    const script = lines
      .replaceAll(/\blocalhost:40(\d\d)\b/g, (_, offset) => `localhost:${place.portBase + Number(offset)}`)
      .replaceAll(/\bdata\//g, `${place.dataDir}/`);
    const npm = `npm() { shift; [ "$1" = -s ] && shift; local name=$1; shift; [ "\${1:-}" = -- ] && shift; node ${join(root, 'launch.mjs')} "$name" "$@"; }`;
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', `${npm}\n${script}`], {
      cwd: folder,
      env: {
        ...place.env,
        INTERNAL_KEY: await secretOf('INTERNAL_KEY'),
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      },
    });
    return stdout;
  }

  it('README drives every service with curl', async () => {
    const stdout = await runPage('README.md');
    expect(stdout).toContain('data: [DONE]');
    expect(stdout).toContain('"deduplicated":false');
    expect(stdout).toContain('"cards":[{');
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
  it.each(everyNth(others, 6))('%s', async (page) => {
    expect((await runPage(page)).trim()).not.toBe('');
  });

  /** Sends the requests of a block in order. A later request can name the run that an earlier one started. */
  it.each(withTag('http'))('$page:$line is accepted', async ({ text }) => {
    token ||= (await runShell('npm run -s token')).trim();
    const [key, imageKey] = [await secretOf('INTERNAL_KEY'), await secretOf('SVC_IMAGE_INTERNAL_KEY')];
    let taskId = '';
    const fill = (part: string) =>
      part
        .replaceAll('<access token>', token)
        .replaceAll('<internal key>', key)
        .replaceAll('<image key>', imageKey)
        .replaceAll('<taskId>', taskId)
        .replaceAll('7c9e6679-7425-40de-944b-e07fc1f90ae7', String(decodeJwt(token).sub));
    for (const request of requestsOf(text)) {
      const { method, path, headers, body } = request;
      const url = `http://127.0.0.1:${place.portBase + portOf(request) - 4000}${fill(path)}`;
      const filled = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
      const response = await fetch(url, { method, headers: filled, ...(body !== undefined && { body: fill(body) }) });
      expect(response.status, `${method} ${path}`).toEqual(
        otherStatuses[`${method} ${path}`] ?? expect.toBeOneOf([200, 201, 204]),
      );
      if (response.status === 201) ({ taskId } = (await response.json()) as { readonly taskId: string });
      else await response.body?.cancel();
    }
  });
});
