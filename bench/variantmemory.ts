/** Peak memory while 64 photographs of 24 megapixels are asked for at once, against one alone. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { makePhoto } from './image.ts';

const atOnce = 64;
const rounds = 3;

export const variantMemory: Bench = {
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-variants-'));
    const originals = join(folder, 'objects');
    mkdirSync(originals);
    writeFileSync(join(originals, 'photo.jpg'), (await makePhoto(6000, 4000)).jpeg);
    for (let index = 0; index < atOnce; index++)
      copyFileSync(join(originals, 'photo.jpg'), join(originals, `${index}.jpg`));
    try {
      return await compare(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

async function compare(folder: string): Promise<Row[]> {
  const one: number[] = [];
  const many: number[] = [];
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    one.push((await peakOf(folder, 1)).peakBytes);
    const peak = await peakOf(folder, atOnce);
    many.push(peak.peakBytes);
    failed += peak.failed;
  }
  const goal = `${atOnce} variants of 24 megapixels at once`;
  return [
    atMost(6, { goal: `${goal}, peak memory`, measured: median(many) / median(one), against: 'one alone' }),
    atMost(0, { goal: `${goal}, failed`, measured: failed, against: 'none' }),
  ];
}

/** A process of its own each time: its peak is for its life. */
async function peakOf(folder: string, count: number): Promise<{ readonly peakBytes: number; readonly failed: number }> {
  const child = fork(fileURLToPath(new URL('image-service.ts', import.meta.url)), [folder, 'patient'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // As `npm start` sets it.
    env: { ...process.env, MALLOC_ARENA_MAX: '2' },
  });
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    for (let index = 0; index < count; index++) await send(port, '/v1/forget', { source: { key: `${index}.jpg` } });
    const specs = [{ name: 'v', width: 1024, height: 1024 }];
    const statuses = await Promise.all(
      Array.from({ length: count }, (_, index) => send(port, '/v1/ensure', { source: { key: `${index}.jpg` }, specs })),
    );
    const answered = once(child, 'message');
    child.send('cpu');
    const [{ peakBytes }] = (await answered) as [{ peakBytes: number }];
    return { peakBytes, failed: statuses.filter((status) => status !== 200).length };
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

/** Not `fetch`, which gives up on an answer that takes minutes. */
async function send(port: number, path: string, body: object): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json', 'x-internal-key': 'key' };
  const call = request({ host: '127.0.0.1', port, path, method: 'POST', agent: false, headers });
  call.end(JSON.stringify(body));
  const [response] = await once(call, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
