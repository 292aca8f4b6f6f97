/** Counts the streams that one user has open in this process: each holds a socket and memory until its reader leaves. */
import { agentProblems } from '../problems.ts';

/** Throws `too_many_streams` (429). Returns the function that releases the stream; further calls of it do nothing. */
export type StreamQuota = (userId: string) => () => void;

const defaultMaxStreamsPerUser = 100;

export function createStreamQuota(maxStreamsPerUser = defaultMaxStreamsPerUser): StreamQuota {
  const open = new Map<string, Set<symbol>>();
  return (userId) => {
    const streams = open.get(userId) ?? new Set();
    if (streams.size >= maxStreamsPerUser) throw agentProblems.too_many_streams();
    const stream = Symbol();
    open.set(userId, streams.add(stream));
    return () => {
      streams.delete(stream);
      if (streams.size === 0 && open.get(userId) === streams) open.delete(userId);
    };
  };
}
