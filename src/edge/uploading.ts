/** Uploads in progress in this process: one for each key, and a limited number of bytes in total. */
import { edgeProblems } from './problems.ts';

export interface Upload {
  /** Counts bytes that have arrived. Returns `false` if there is no room for them. */
  add(bytes: number): boolean;
  /** Always call this. A second call has no effect. */
  end(): void;
}

export interface Uploads {
  /** Throws `upload_in_progress`. */
  begin(bucket: string, key: string): Upload;
}

/** `makeRoom` ends the slowest upload, and returns `false` if none is slow enough. */
export function createUploads(deps: { readonly maxStagedBytes: number; readonly makeRoom: () => boolean }): Uploads {
  const running = new Set<string>();
  let stagedBytes = 0;
  return {
    begin: (bucket, key) => {
      const name = JSON.stringify([bucket, key]);
      if (running.has(name)) throw edgeProblems.upload_in_progress();
      running.add(name);
      let itsBytes = 0;
      let isOver = false;
      return {
        add: (bytes) => {
          while (!isOver && stagedBytes + bytes > deps.maxStagedBytes) if (!deps.makeRoom()) return false;
          // This upload may itself have been ended to make room.
          if (isOver) return false;
          itsBytes += bytes;
          stagedBytes += bytes;
          return true;
        },
        end: () => {
          if (isOver) return;
          isOver = true;
          running.delete(name);
          stagedBytes -= itsBytes;
        },
      };
    },
  };
}
