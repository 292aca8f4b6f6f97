/**
 * Faults on demand, for tests over HTTP: the next calls of an operation get the configured fault instead of the usual response.
 * Configure them through `/local/faults` with LOCAL_IDP_SECRET.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

export const operations = ['authorize', 'pkce', 'refresh', 'logout', 'user', 'jwks'] as const;
export type Operation = (typeof operations)[number];

export const faultRequest = z.object({
  operation: z.enum(operations),
  /**
   * `answer`: this response; `reset`: the connection breaks; `hang`: no response; `half`: a truncated response; `slow`: the usual
   * response, but late; `lost`: the operation is done, but the response is lost.
   */
  kind: z.enum(['answer', 'reset', 'hang', 'half', 'slow', 'lost']),
  status: z.int().min(200).max(599).default(500),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(''),
  delayMs: z.int().min(0).max(60_000).default(0),
  /** Number of affected calls. Later calls work as usual. */
  times: z.int().min(1).max(1000).default(1),
});
type Fault = z.infer<typeof faultRequest>;

export interface Faults {
  arm(fault: Fault): void;
  clear(): void;
  /** Counts since the last `clear`. */
  readonly calls: Readonly<Record<Operation, number>>;
  /** Resolves to `true` if the call has its response, or will never get one. */
  meet(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
}

export function createFaults(): Faults {
  const none = () => Object.fromEntries(operations.map((operation) => [operation, 0])) as Record<Operation, number>;
  let armed: { readonly fault: Fault; left: number }[] = [];
  const calls = none();
  return {
    calls,
    arm: (fault) => void armed.push({ fault, left: fault.times }),
    clear: () => {
      armed = [];
      Object.assign(calls, none());
    },
    meet: async (operation, request, reply) => {
      calls[operation] += 1;
      const next = armed.find(({ fault, left }) => fault.operation === operation && left > 0);
      if (next === undefined) return false;
      next.left -= 1;
      return play(next.fault, request, reply);
    },
  };
}

async function play(fault: Fault, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { kind, status, headers, body, delayMs } = fault;
  await delay(delayMs);
  if (kind === 'slow') return false;
  if (kind === 'lost') {
    // Breaks the connection just before the response is sent, after the operation is done.
    reply.raw.writeHead = () => {
      request.raw.socket.destroy();
      return reply.raw;
    };
    return false;
  }
  reply.hijack();
  if (kind === 'reset') request.raw.socket.destroy();
  if (kind === 'answer') reply.raw.writeHead(status, headers).end(body);
  if (kind === 'half') {
    reply.raw.writeHead(status, { ...headers, 'content-length': String(body.length + 1000) }).write(body);
    await delay(20);
    request.raw.socket.destroy();
  }
  return true;
}
