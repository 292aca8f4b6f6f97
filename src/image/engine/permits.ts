/** Permits for a bounded number of places. Owners take turns, so that the images of one owner do not delay those of others. */
import { EngineBusy } from './engine.ts';

export interface Claim {
  /** The owner of the image (`ownerOfKey`). Claims without an owner share one. */
  readonly owner?: string | undefined;
  /** `upload`: an asset cannot be registered without it. Uploads and other work take turns. */
  readonly kind?: 'upload' | 'variant';
  /** Memory that the image takes while the permit is held. */
  readonly bytes?: number;
}

export interface Permits {
  /** Throws EngineBusy after the wait. The returned function releases the permit once. */
  acquire(claim?: Claim): Promise<() => void>;
}

interface Waiting extends Required<Claim> {
  readonly owner: string;
  readonly begin: () => void;
}

/**
 * Gives one permit more than `count` while one owner holds all of them and another waits, because running work cannot
 * be interrupted and may take longer than a wait.
 *
 * `memory`: the most bytes of all permits in use. A claim of more than fits begins when no other large one is in use. A
 * large claim whose turn it is waits for memory, and no later claim takes it away. Small ones pass it within a share of
 * their own, which is in addition to a claim that is alone.
 */
export function createPermits(options: {
  readonly count: number;
  readonly waitMs: number;
  readonly memory?: number;
}): Permits {
  const { count, waitMs, memory = Number.POSITIVE_INFINITY } = options;
  const smallShare = memory / 32;
  const isSmall = ({ bytes }: Pick<Waiting, 'bytes'>) => bytes <= smallShare / 2;
  let inUse = 0;
  let smallBytes = 0;
  let largeBytes = 0;
  /** In the order of arrival. A claim that gives up is removed. */
  const waiting = new Set<Waiting>();
  /** The permits that each owner holds. Owners without permits are missing. */
  const held = new Map<string, number>();
  /** The number of the last permit of each owner that holds one or waits. */
  const lastTurn = new Map<string, number>();
  let turns = 0;
  let lastKind: Claim['kind'];

  function grant({ owner, kind, bytes }: Required<Claim>): void {
    inUse += 1;
    hold(bytes);
    turns += 1;
    lastKind = kind;
    held.set(owner, (held.get(owner) ?? 0) + 1);
    lastTurn.set(owner, turns);
  }

  function hold(bytes: number, sign: 1 | -1 = 1): void {
    if (isSmall({ bytes })) smallBytes += sign * bytes;
    else largeBytes += sign * bytes;
  }

  function takeBack({ owner, bytes }: Required<Claim>): void {
    inUse -= 1;
    hold(bytes, -1);
    const left = (held.get(owner) ?? 0) - 1;
    if (left > 0) held.set(owner, left);
    else held.delete(owner);
    serveNext();
    forget(owner);
  }

  function serveNext(): void {
    for (let next = chooseNext(); next !== undefined; next = chooseNext()) {
      waiting.delete(next);
      grant(next);
      next.begin();
    }
  }

  /** Chooses by the fewest permits held, then by the kind whose turn it is, then by the owner who has waited longest for a turn. */
  function chooseNext(): Waiting | undefined {
    const next = first(() => true);
    if (next === undefined || fits(next)) return next;
    const small = isSmall(next) ? undefined : first(isSmall);
    return small !== undefined && fits(small, true) ? small : undefined;
  }

  function first(isMeant: (one: Waiting) => boolean): Waiting | undefined {
    let best: Waiting | undefined;
    for (const one of waiting)
      if (isMeant(one) && mayBegin(one.owner) && (best === undefined || precedes(one, best))) best = one;
    return best;
  }

  /** `isAhead`: of a large claim whose turn it is. */
  function fits(one: Pick<Waiting, 'bytes'>, isAhead = false): boolean {
    if (isSmall(one)) return smallBytes + one.bytes <= Math.max(smallShare, isAhead ? 0 : memory - largeBytes);
    return smallBytes <= smallShare && (largeBytes === 0 || largeBytes + one.bytes <= memory - smallShare);
  }

  function mayBegin(owner: string): boolean {
    return inUse < count || (inUse === count && count > 0 && held.size === 1 && !held.has(owner));
  }

  function precedes(one: Waiting, other: Waiting): boolean {
    const [ownHeld, otherHeld] = [held.get(one.owner) ?? 0, held.get(other.owner) ?? 0];
    if (ownHeld !== otherHeld) return ownHeld < otherHeld;
    if (one.kind !== other.kind) return one.kind !== lastKind;
    return (lastTurn.get(one.owner) ?? 0) < (lastTurn.get(other.owner) ?? 0);
  }

  function forget(owner: string): void {
    const isWaiting = [...waiting].some((one) => one.owner === owner);
    if (!isWaiting && !held.has(owner)) lastTurn.delete(owner);
  }

  return {
    acquire: ({ owner = '', kind = 'variant', bytes = 0 } = {}) => {
      const claim = { owner, kind, bytes };
      const release = once(() => takeBack(claim));
      if (waiting.size === 0 && mayBegin(owner) && fits(claim)) {
        grant(claim);
        return Promise.resolve(release);
      }
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const one: Waiting = {
        ...claim,
        begin: () => {
          clearTimeout(timer);
          resolve(release);
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(one);
        forget(owner);
        reject(new EngineBusy(`no permit within ${waitMs} ms`));
      }, waitMs);
      waiting.add(one);
      serveNext();
      return promise;
    },
  };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
