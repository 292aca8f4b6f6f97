/** The screening thread: hashes images and searches the lists, off the event loop that serves requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { createExactLookup, createNearestLookup, openList } from './listfiles.ts';
import type { ExactDigests, Listed, Outcomes, ScreeningReply, ScreeningRequest, Task } from './messages.ts';
import { pdqOf } from './pdq.ts';

/** Bits (docs/specification/media.md#screening). */
const maxDistance = 31;

const { folder } = workerData as { readonly folder: string | undefined };
const exactLists = {
  sha256: openList(folder, 'sha256.txt', 32, (digests) => createExactLookup(digests, 32)),
  md5: openList(folder, 'md5.txt', 16, (digests) => createExactLookup(digests, 16)),
};
const pdqList = openList(folder, 'pdq.txt', 32, (digests) => createNearestLookup(digests, maxDistance));

function findExact(digests: ExactDigests): Listed | undefined {
  // Both are opened before either is searched: a broken list fails the check whatever the other contains.
  const lists = [
    { list: 'sha256', isListed: exactLists.sha256() },
    { list: 'md5', isListed: exactLists.md5() },
  ] as const;
  const found = lists.find(({ list, isListed }) => isListed(Buffer.from(digests[list], 'hex')));
  return found && { list: found.list, digest: digests[found.list], distance: 0 };
}

function findNearest(pdq: string): Listed | undefined {
  const found = pdqList()(Buffer.from(pdq, 'hex'));
  return found && { list: 'pdq', digest: Buffer.from(found.digest).toString('hex'), distance: found.distance };
}

function runTask(task: Task): Outcomes[Task['kind']] {
  switch (task.kind) {
    case 'hash':
      return pdqOf(task.raster);
    case 'exact':
      return findExact(task.digests);
    case 'nearest':
      return findNearest(task.pdq);
  }
}

function answer({ id, task }: ScreeningRequest): ScreeningReply {
  try {
    return { id, outcome: runTask(task) };
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (request: ScreeningRequest) => parentPort?.postMessage(answer(request)));
