/** The README's lines work as they are written: they are read from it and run in one shell against a running Atelier. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderLandscape } from '#commands/landscape.ts';
import { skipWithout } from '../programs.ts';
import { newPlace, type Place, type Program, root, run } from './running.ts';

let place: Place;
let running: Program;
let folder: string;

beforeAll(async () => {
  place = await newPlace();
  folder = await mkdtemp(join(tmpdir(), 'atelier-readme-'));
  await sharp(await renderLandscape()).toFile(join(folder, 'photo.jpg'));
  running = run('start', [], place.env);
  await running.said('Atelier is ready');
});
afterAll(async () => {
  running.child.kill('SIGTERM');
  await running.ended();
  await Promise.all([place.remove(), rm(folder, { recursive: true })]);
});

it.skipIf(skipWithout('bash', 'curl'))('drives every service with curl', async () => {
  const blocks = (await readFile(join(root, 'README.md'), 'utf8'))
    .split('## With curl')[1]
    ?.split('\n## ')[0]
    ?.matchAll(/```sh\n([\s\S]*?)```/g);
  const lines = [...(blocks ?? [])].map((block) => block[1]).join('\n');
  // The only changes: this run's ports, data folder and the way back to the package.
  const script = lines
    .replaceAll('localhost:40', 'localhost:PORT')
    .replaceAll(/localhost:PORT(\d\d)/g, (_, offset) => `localhost:${place.portBase + Number(offset)}`)
    .replaceAll('data/secrets.json', join(place.dataDir, 'secrets.json'))
    .replaceAll('npm run -s token', `${process.execPath} ${join(root, 'launch.mjs')} token`)
    .replaceAll('node -pe', `${process.execPath} -pe`);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...place.env },
  });
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
