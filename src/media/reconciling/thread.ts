/** The reading thread: hashes files off the event loop that serves requests. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { codeOf } from '#platform/objects/files/folders.ts';
import { headOf } from '#platform/objects/files/head.ts';
import type { ReadingReply, ReadingRequest, SeenFile } from './messages.ts';

const piece = Buffer.allocUnsafe(1024 * 1024);
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function look({ path, root, knownEtags, byteSize }: ReadingRequest): SeenFile | undefined {
  const real = join(realpathSync(root), relative(root, path));
  if (realpathSync(real) !== real) return undefined;
  const file = openSync(real, flags);
  try {
    const stat = fstatSync(file, { bigint: true });
    if (!stat.isFile()) return undefined;
    const { etag, size } = headOf(stat);
    if (knownEtags.includes(etag) || size !== byteSize) return { etag, sha256: undefined };
    const digest = createHash('sha256');
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece))
      digest.update(piece.subarray(0, read));
    return { etag, sha256: digest.digest('hex') };
  } finally {
    closeSync(file);
  }
}

function answer(task: ReadingRequest): ReadingReply {
  try {
    return { file: look(task) };
  } catch (error) {
    const code = codeOf(error);
    return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code ?? '')
      ? { file: undefined }
      : { failure: code ?? String(error) };
  }
}

parentPort?.on('message', (task: ReadingRequest) => parentPort?.postMessage(answer(task)));
