/** Uploads under way in this process: one for each key, and a bounded number of bytes in all. */
import { edgeProblems } from './problems.ts';

export interface Upload {
  /** Notes bytes that have arrived. `false`: there is no room for them. */
  add(bytes: number): boolean;
  /** To be called in any case; a second call does nothing. */
  end(): void;
}

export interface Uploads {
  /** Throws `upload_in_progress`. */
  begin(bucket: string, key: string): Upload;
}

/** `makeRoom` ends the slowest upload; `false`: none is slow enough. */
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
          // Room may have been made by ending this one.
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
