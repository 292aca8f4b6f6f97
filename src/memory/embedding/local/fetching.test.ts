import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Hub, revision, serveRange, startHub } from '../../../../test/memory/hub.fixture.ts';
import { fetchModel } from './fetching.ts';
import { findModel, folderOf } from './models.ts';

const network = Buffer.alloc(300_000, 'weights ');
const tokenizer = Buffer.from('{"model":{}}');
const model = 'owner/small';
let hub: Hub;
let dataDir: string;

beforeEach(async () => {
  hub = await startHub({ 'model.onnx': network, 'tokenizer.json': tokenizer });
  dataDir = await mkdtemp(join(tmpdir(), 'atelier-models-'));
});
afterEach(async () => {
  await hub.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function download(progress: number[] = [], stallMs = 300): Promise<string> {
  return fetchModel({
    model,
    dataDir,
    hub: hub.url,
    onStart: (total) => {
      progress.push(total);
      return (bytes) => progress.push(bytes);
    },
    stallMs,
  });
}

const partOf = (path: string) => join(folderOf(model, dataDir), `${path}.${revision.slice(0, 12)}.part`);
const written = async () => (await stat(partOf('model.onnx')).catch(() => undefined))?.size ?? 0;

it('downloads the files of a model, reports each byte, and is then complete', async () => {
  const progress: number[] = [];
  const folder = await download(progress);
  expect(await readFile(join(folder, 'model.onnx'))).toEqual(network);
  expect(await readFile(join(folder, 'tokenizer.json'))).toEqual(tokenizer);
  const [total, ...parts] = progress;
  expect(parts.reduce((sum, bytes) => sum + bytes, 0)).toBe(total);
  expect(findModel(model, dataDir).name).toBe(model);
  await download();
  expect(hub.ranges).toHaveLength(2);
});

it('continues a download that was killed', { timeout: 60_000 }, async () => {
  // Sends a part of the file, and nothing more.
  hub.serve = (response, bytes) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 100_000));
  };
  const child = fork(join(import.meta.dirname, '../../../../test/memory/fetching.child.ts'), [hub.url, dataDir]);
  await expect.poll(written, { timeout: 30_000 }).toBeGreaterThan(0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(() => findModel(model, dataDir)).toThrow(/npm run embedder/);
  const have = (await readFile(partOf('model.onnx'))).length;

  hub.serve = serveRange;
  hub.ranges.length = 0;
  const folder = await download();
  expect(hub.ranges[0]).toEqual(['model.onnx', `bytes=${have}-`]);
  expect(await readFile(join(folder, 'model.onnx'))).toEqual(network);
});

it('follows the redirect of a large file, and requests a new signed URL to continue', async () => {
  hub.serve = (response, bytes) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 100_000));
    // A reset would discard what was not read yet.
    void vi.waitUntil(async () => (await written()) > 0, { timeout: 30_000 }).finally(() => response.destroy());
  };
  await expect(download([], 30_000)).rejects.toThrow(/Run the command again to continue/);
  expect(await written()).toBeGreaterThan(0);
  hub.serve = serveRange;
  hub.ranges.length = 0;
  expect(await readFile(join(await download(), 'model.onnx'))).toEqual(network);
  // The first URL is no longer valid.
  expect(new Set(hub.redirects).size).toBe(2);
  expect(hub.ranges[0]?.[1]).toMatch(/^bytes=[1-9]\d*-$/);
});

it('waits as long as the hub requests after 429, and retries after a failure', async () => {
  const answers: ReturnType<Hub['refuse']>[] = [
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 503 },
    undefined,
    { status: 429, headers: { ratelimit: '"api";r=0;t=1' } },
  ];
  hub.refuse = () => answers.shift();
  const since = performance.now();
  expect(await readFile(join(await download(), 'model.onnx'))).toEqual(network);
  expect(performance.now() - since).toBeGreaterThan(1900);
  hub.refuse = () => ({ status: 429, headers: { 'retry-after': '86400' } });
  await rm(folderOf(model, dataDir), { recursive: true });
  await expect(download()).rejects.toThrow(/returned 429.*Try again in 86400 seconds/);
});

it('a model that needs an account, or that was renamed: a fault that names the status', async () => {
  hub.refuse = () => ({ status: 401, headers: { 'x-error-code': 'GatedRepo' } });
  await expect(download()).rejects.toThrow(/returned 401/);
});

it('a range that the content server refuses or answers with another one', async () => {
  hub.serve = (response, bytes) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 20));
  };
  await expect(download()).rejects.toThrow(/Run the command again to continue/);
  hub.serve = (response, bytes) =>
    response.writeHead(206, { 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}` }).end(bytes);
  await expect(download()).rejects.toThrow(/another part/);
  hub.serve = serveRange;
  expect(await readFile(join(await download(), 'model.onnx'))).toEqual(network);
});

it('starts again if the hub has no ranges', async () => {
  hub.serve = (response, bytes) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 1000), () => response.destroy());
  };
  await expect(download()).rejects.toThrow(/Run the command again to continue/);
  hub.serve = (response, bytes) => response.end(bytes);
  expect(await readFile(join(await download(), 'model.onnx'))).toEqual(network);
});

it('rejects a file with another checksum, and downloads it again', async () => {
  hub.serve = (response, bytes) => response.end(Buffer.alloc(bytes.length, 'other'));
  await expect(download()).rejects.toThrow(/model\.onnx does not have the checksum/);
  hub.serve = serveRange;
  expect(await readFile(join(await download(), 'model.onnx'))).toEqual(network);
});

it('rejects the checksum of a small file, which is that of a Git object', async () => {
  hub.listing = (body) => {
    for (const file of body.siblings) if (file.blobId !== undefined) file.blobId = '0'.repeat(40);
    return body;
  };
  await expect(download()).rejects.toThrow(/tokenizer\.json does not have the checksum/);
});

it('stops if no data arrives, or more than the hub announced', async () => {
  hub.serve = (response) => response.writeHead(200).flushHeaders();
  await expect(download()).rejects.toThrow(/Run the command again/);
  hub.serve = (response, bytes) => response.end(Buffer.concat([bytes, bytes]));
  await expect(download()).rejects.toThrow(/sent more than 300000 bytes/);
});

describe('a hub that lists', () => {
  it.each([
    ['no files', () => ({ sha: revision, siblings: [] }), /has no ONNX file/],
    ['no revision', () => ({ siblings: [] }), /returned no list of files/],
    ['nothing', () => null, /returned no list of files/],
    [
      'no sizes',
      (body: { siblings: object[] }) => ({ ...body, siblings: [{ rfilename: 'model.onnx' }] }),
      /names no size/,
    ],
  ])('%s: a fault in one sentence', async (_, listing, fault) => {
    hub.listing = listing;
    await expect(download()).rejects.toThrow(fault);
  });

  it('no such model: a fault that names its status', async () => {
    await expect(
      fetchModel({ model: 'owner/unknown', dataDir, hub: hub.url, onStart: () => () => undefined }),
    ).rejects.toThrow(/returned 404/);
    await expect(
      fetchModel({ model: '../owner/small', dataDir, hub: hub.url, onStart: () => () => undefined }),
    ).rejects.toThrow(/is not the name of a model/);
  });
});

describe('the files of a model', () => {
  it('are complete if all have their size', async () => {
    const folder = await download();
    await writeFile(join(folder, 'model.onnx'), 'short');
    expect(() => findModel(model, dataDir)).toThrow(/model\.onnx is not complete/);
    expect(await readFile(join(await download(), 'model.onnx'))).toEqual(network);
  });

  it('are read from a folder without network', async () => {
    await expect(async () => findModel(dataDir, '/nowhere')).rejects.toThrow(/has no ONNX file/);
    await writeFile(join(dataDir, 'model.onnx'), network);
    await expect(async () => findModel(dataDir, '/nowhere')).rejects.toThrow(/has no tokenizer\.json/);
    await writeFile(join(dataDir, 'tokenizer.json'), tokenizer);
    expect(findModel(dataDir, '/nowhere').network).toBe(join(dataDir, 'model.onnx'));
  });
});
