/** Legacy files and rows of them, laid straight into the engines, for the tests. */
import { type Planted, type PlantOptions, plant } from './planting.fixture.ts';
import type { Client, MediaRig } from './rig.fixture.ts';

/** Puts the same bytes at each path of the rig's legacy bucket. */
export async function lay(rig: MediaRig, paths: readonly string[], bytes: Uint8Array = Buffer.from('x')) {
  await Promise.all(
    paths.map((path) =>
      rig.legacyFiles.put(path, bytes, { contentType: 'application/octet-stream', size: bytes.length }),
    ),
  );
}

/** Which of these paths still hold a file. */
export async function standing(rig: MediaRig, paths: readonly string[]): Promise<readonly string[]> {
  const heads = await Promise.all(paths.map((path) => rig.legacyFiles.head(path)));
  return paths.filter((_path, index) => heads[index] !== undefined);
}

/** Assets whose bytes lie in the rig's legacy bucket. */
export function plantLegacy(rig: MediaRig, count: number, options: PlantOptions = {}): Promise<readonly Planted[]> {
  return plant({ ...groundOf(rig), userId: rig.userId }, count, { backend: 'legacy', ...options });
}

export function groundOf(rig: MediaRig) {
  return { database: rig.database, originals: rig.legacyFiles };
}

/** Sends a request with the rig's legacy bucket. */
export function inBucket(rig: MediaRig, client: Client) {
  return {
    post: <Body>(path: string, payload: object) =>
      client.post<Body>(path, { legacyBucket: rig.legacyBucket, ...payload }),
    delete: <Body>(path: string, payload: object) =>
      client.delete<Body>(path, { legacyBucket: rig.legacyBucket, ...payload }),
  };
}
