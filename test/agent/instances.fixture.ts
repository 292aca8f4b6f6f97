/** Agents as processes of their own, to be killed, drained and started again; and readers who go from one to another. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../acceptance/running.fixture.ts';
import type { TestIssuer } from '../platform/tokenissuer.fixture.ts';
import { programEnv, programPath } from '../programs.fixture.ts';
import { type Chatter, chatter, newThread } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';

export const internalKey = 'a key of the tests';

export interface Instance {
  readonly url: string;
  readonly portBase: number;
  readonly child: ChildProcess;
  /** As it is, in the midst of what it does. */
  kill(): Promise<void>;
  /** Resolves to its exit code when it ends. */
  ended(): Promise<number | null>;
}

/** The process itself, without the launcher, which would let it end in good order. */
export async function startInstance(
  portBase: number,
  env: Readonly<Record<string, string>>,
  services: readonly string[] = ['agent'],
): Promise<Instance> {
  const child = spawn(process.execPath, [programPath, 'start', ...services], {
    cwd: root,
    env: { ...programEnv, INTERNAL_KEY: internalKey, ATELIER_PORT_BASE: String(portBase), ...env },
  });
  const exit = once(child, 'exit');
  let printed = '';
  child.stderr.on('data', (chunk) => (printed += chunk));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      if (printed.includes('Atelier is ready')) resolve();
    });
    exit.then(() => reject(new Error(`an agent ended before it was ready:\n${printed}`)));
  });
  const ended = async () => ((await exit) as [number | null])[0];
  return {
    url: `http://127.0.0.1:${portBase + 4}`,
    portBase,
    child,
    kill: async () => {
      child.kill('SIGKILL');
      await ended();
    },
    ended,
  };
}

export async function userAt(issuer: TestIssuer, url: string, userId: string): Promise<Chatter> {
  return chatter(url, userId, { authorization: `Bearer ${await issuer.token({ sub: userId })}` });
}

/** Reads to the end; when one instance breaks off or is gone, on from there at the next. Gives what was read. */
export async function follow(
  taskId: string,
  [...at]: readonly [Chatter, ...Chatter[]],
  events: SeenEvent[] = [],
): Promise<readonly SeenEvent[]> {
  for (let turn = 0; ; turn++) {
    const reader = at[turn % at.length] as Chatter;
    const onEvent = (event: SeenEvent) => events.push(event);
    const seen = await reader.stream(taskId, { lastEventId: events.at(-1)?.id, onEvent });
    if (seen.done) return events;
    if (seen.events.length === 0) await sleep(100);
  }
}

/** A run that is under way, and a reader elsewhere who follows it to its end, coming back when cut off. */
export interface Watched {
  readonly threadId: string;
  readonly taskId: string;
  readonly events: readonly SeenEvent[];
  readonly over: Promise<unknown>;
}

export async function watch(starter: Chatter, reader: Chatter, text: string): Promise<Watched> {
  const threadId = newThread();
  const taskId = await starter.ask(threadId, text);
  const events: SeenEvent[] = [];
  return { threadId, taskId, events, over: follow(taskId, [reader], events) };
}
