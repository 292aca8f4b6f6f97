import type { IncomingMessage } from 'node:http';
import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import { starting, threadId } from '../routes.ts';
import { findRunningOf } from '../runs/runstore.ts';
import type { ServingContext } from '../servingcontext.ts';
import { readLastEventId } from '../stream/readers.ts';
import { checkThread, signedIn } from '../threads/changes.ts';
import { chatParams, chatRequest, startChat } from './chat.ts';

/** The client sends the whole conversation each time, so a full thread has to fit (32 MiB), with what it adds in JSON. */
const maxBodyBytes = 36 * 1024 * 1024;
/** Of all bodies that arrive at this process at once. */
const maxArrivingBytes = 256 * 1024 * 1024;

export function addChatRoutes(app: HttpServer, access: Access, deps: ServingContext): void {
  const routes = routesOf(app, 'agent');
  const admitBody = createBodyBudget(maxArrivingBytes, maxBodyBytes);
  routes.post(
    '/chat',
    {
      ...access.userOnly,
      bodyLimit: maxBodyBytes,
      preParsing: async ({ caller, raw }) => admitBody(signedIn(caller).userId, raw),
    },
    {
      id: 'chat',
      summary: "Start a run with the AI SDK's default chat transport",
      description:
        "Takes the request of the AI SDK's `DefaultChatTransport` and returns the stream of the run. If the connection breaks, the run continues.",
      problems: [...starting, 'too_many_streams'],
      otherResponses: { 200: ['A stream of server-sent events.', 'text/event-stream'] },
      example: {
        id: threadId,
        messages: [{ id: 'message-1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
      },
      client: { kind: 'foreign' },
      body: chatRequest,
      handler: async (request, reply) => {
        const userId = signedIn(request.caller).userId;
        const release = deps.readers.reserve(userId);
        try {
          const run = await startChat(deps, userId, request.body);
          // The request lives as long as the stream, and its conversation is not needed any more.
          request.body = { ...request.body, messages: [] };
          reply.leavePlace();
          // A client that has answered approvals has the message.
          await deps.readers.read(reply, run, undefined, release, run.replayed ?? 0);
        } catch (error) {
          release();
          throw error;
        }
      },
    },
  );

  routes.get('/chat/:id/stream', access.userOnly, {
    id: 'resumeChat',
    summary: 'Resume the stream of the run in progress of a thread',
    description: 'Streams the run in progress of a thread from its first event, or after `Last-Event-ID`.',
    problems: ['forbidden', 'too_many_streams'],
    otherResponses: {
      200: ['A stream of server-sent events.', 'text/event-stream'],
      204: ['The thread has no run in progress.'],
    },
    client: { kind: 'foreign' },
    params: chatParams,
    handler: async (request, reply) => {
      const lastEventId = readLastEventId(request.headers['last-event-id']);
      const threadId = request.params.id;
      const ownerId = await checkThread(deps, signedIn(request.caller).userId, threadId);
      const run = ownerId === undefined ? undefined : await findRunningOf(deps.db, threadId);
      if (run === undefined) return reply.code(204).send();
      await deps.readers.read(reply, run, lastEventId);
    },
  });
}

// Limits the memory of large request bodies: so many bytes may arrive at once. If there is no room for another body, the user
// with the most bytes loses the oldest one. Otherwise one user with slow bodies could block all others.

interface Arriving {
  readonly userId: string;
  readonly bytes: number;
  readonly request: IncomingMessage;
}

/** A body without a declared length counts as the largest. Throws `overloaded`. */
type BodyBudget = (userId: string, request: IncomingMessage) => void;

function createBodyBudget(maxBytes: number, largestBytes: number): BodyBudget {
  /** The oldest first. */
  const arriving = new Set<Arriving>();

  function bytesByUser(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { userId, bytes } of arriving) sums.set(userId, (sums.get(userId) ?? 0) + bytes);
    return sums;
  }

  /** Returns `false` if no user has more than `bytes`. */
  function dropFromUserWithMoreThan(bytes: number, sums: ReadonlyMap<string, number>): boolean {
    const most = Math.max(...sums.values());
    if (most <= bytes) return false;
    for (const body of arriving) {
      if (sums.get(body.userId) !== most) continue;
      arriving.delete(body);
      body.request.destroy();
      return true;
    }
    return false;
  }

  return (userId, request) => {
    const bytes = Math.min(Number(request.headers['content-length'] ?? largestBytes), largestBytes);
    for (;;) {
      const sums = bytesByUser();
      const all = [...sums.values()].reduce((sum, one) => sum + one, 0);
      if (all + bytes <= maxBytes) break;
      if (!dropFromUserWithMoreThan((sums.get(userId) ?? 0) + bytes, sums)) throw problems.overloaded();
    }
    const body = { userId, bytes, request };
    arriving.add(body);
    request.once('close', () => arriving.delete(body));
  };
}
