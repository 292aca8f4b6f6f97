/**
 * The local CMS: a stand-in that serves three bodies from JSON files in the data folder, `cms/*.json`, for
 * development without a CMS (docs/specification/system.md#engines). Edit the files freely: each is read for every request.
 */
import { mkdir, readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { withFile, writeWhole } from '#platform/files.ts';
import { createServer, type HttpServer, type ServerCommons } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import { problems } from '#platform/problem.ts';

export interface CmsDeps {
  readonly server: ServerCommons;
  readonly dataDir: string;
}

const bodies = ['announcements', 'home-cards-v2', 'trending'] as const;
const maxBodyBytes = 4 * 1024 * 1024;

export async function createCms({ server, dataDir }: CmsDeps): Promise<HttpServer> {
  const folder = join(dataDir, 'cms');
  await mkdir(folder, { recursive: true });
  await Promise.all(bodies.map((body) => placeSample(folder, `${body}.json`)));
  const app = createServer({
    ...server,
    service: 'cms',
    readiness: {},
    reference: { description: 'A stand-in for the CMS, for development. It serves files of the data folder.' },
  });
  for (const body of bodies) {
    app.get(
      `/api/cached/${body}`,
      { schema: { summary: `The content of cms/${body}.json in the data folder` } },
      async (_request, reply) => {
        const text = await readBody(join(folder, `${body}.json`), server.log);
        return reply.type('application/json; charset=utf-8').header('cache-control', 'no-store').send(text);
      },
    );
  }
  return app;
}

/** Never replaces an edited file. */
async function placeSample(folder: string, name: string): Promise<void> {
  const file = join(folder, name);
  const sample = await readFile(new URL(`./sample/${name}`, import.meta.url));
  // No change: the Content page of operators shows when a document was changed.
  if (await writeWhole(file, sample, { createOnly: true })) await utimes(file, 0, 0);
}

/** Returns the text of the file. If it is not valid JSON, the log names the file and the position. */
async function readBody(path: string, log: Log): Promise<Buffer> {
  try {
    const bytes = await readBounded(path);
    JSON.parse(bytes.toString('utf8'));
    return bytes;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw problems.not_found();
    log.warn(`cannot serve ${path}: ${message}`);
    throw problems.internal_error();
  }
}

const readBounded = (path: string): Promise<Buffer> =>
  withFile(path, 'r', async (file) => {
    const { size } = await file.stat();
    if (size > maxBodyBytes) throw new Error(`it is larger than ${maxBodyBytes} bytes`);
    return file.readFile();
  });
