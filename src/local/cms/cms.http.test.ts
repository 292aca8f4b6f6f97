import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpServer } from '#platform/http/server.ts';
import { contentLanguages } from '#platform/language.ts';
import { createLog } from '#platform/log.ts';
import { createCms } from './service.ts';

let dataDir: string;
let cms: HttpServer;
let url: string;
const lines: string[] = [];
async function start(): Promise<void> {
  const log = createLog({ level: 'warn', destination: { write: (line: string) => lines.push(line) } });
  cms = await createCms({ server: { log }, dataDir });
  url = await cms.listen({ host: '127.0.0.1', port: 0 });
}
beforeEach(async () => {
  lines.length = 0;
  dataDir = await mkdtemp(join(tmpdir(), 'cms-'));
  await start();
});
afterEach(async () => {
  await cms.close();
  await rm(dataDir, { recursive: true });
});

const files = ['announcements', 'home-cards-v2', 'trending'];

describe('the local CMS', () => {
  it('creates samples in the data folder, and nothing else', async () => {
    expect((await readdir(join(dataDir, 'cms'))).sort()).toEqual(files.map((name) => `${name}.json`));
    // The Content page shows them as samples, and not as changed.
    for (const name of files) expect((await stat(join(dataDir, 'cms', `${name}.json`))).mtimeMs).toBe(0);
  });

  it.each(files)('serves the current contents of %s, edited or not', async (name) => {
    const file = join(dataDir, 'cms', `${name}.json`);
    const read = async () => (await fetch(`${url}/api/cached/${name}`)).json();
    expect(await read()).toEqual(JSON.parse(await readFile(file, 'utf8')));
    await writeFile(file, '{"edited":true}');
    expect(await read()).toEqual({ edited: true });
    await cms.close();
    await start();
    expect(await read()).toEqual({ edited: true });
  });

  it('names a broken file in the log, and fails', async () => {
    await writeFile(join(dataDir, 'cms', 'trending.json'), '{"items": [');
    expect((await fetch(`${url}/api/cached/trending`)).status).toBe(500);
    expect(lines.join('')).toContain(join('cms', 'trending.json'));
    expect((await fetch(`${url}/api/cached/announcements`)).status).toBe(200);
  });

  it('returns 404 for a file that was removed', async () => {
    await rm(join(dataDir, 'cms', 'trending.json'));
    expect((await fetch(`${url}/api/cached/trending`)).status).toBe(404);
  });
});

describe('the samples', () => {
  it.each([
    ['announcements', ['title', 'description']],
    ['home-cards-v2', ['title', 'description', 'prompt']],
    ['trending', ['title']],
  ])('%s have every text in every language', async (name, fields) => {
    const body = (await (await fetch(`${url}/api/cached/${name}`)).json()) as {
      readonly cards?: Record<string, string>[];
      readonly items?: Record<string, string>[];
    };
    const items = body.cards ?? body.items ?? [body as Record<string, string>];
    expect(items.length).toBeGreaterThan(0);
    const wanted = fields.flatMap((field) => contentLanguages.map((language) => `${field}_${language}`));
    const missing = items.flatMap((item) => wanted.filter((key) => !item[key]));
    expect(missing).toEqual([]);
  });
});
