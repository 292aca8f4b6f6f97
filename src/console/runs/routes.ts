/** The Runs page: how runs and generations of all users went, from the agent service. */
import { z } from 'zod';
import { failureRange, generationRecordListing, type RunPage, type RunRecord, runListing } from '#agent/records/api.ts';
import type { Asset, ImageSignedRefs } from '#media/api.ts';
import { hashedTarget } from '#platform/audit/audit.ts';
import { bodyOf } from '#platform/http/client.ts';
import type { Routes } from '#platform/http/routes.ts';
import { problems } from '#platform/problem.ts';
import type { ConsoleContext } from '../context.ts';
import { type OperatorGuard, recordDeed } from '../operators/guard.ts';
import { consoleProblems } from '../problems.ts';
import { addForwards, readFrom, type ServiceClients } from '../services.ts';
import type { Replay, ReplayedEvent, ShownFile, ShownRun, ShownRunPage } from './api.ts';

const titlesQuery = z.object({ ids: z.string().max(13_000) });
const params = z.object({ taskId: z.guid().toLowerCase() });

export function addRunRoutes(
  routes: Routes,
  guard: OperatorGuard,
  { db, traceLink }: ConsoleContext,
  { agent, media }: ServiceClients,
): void {
  const show = (run: RunRecord): ShownRun => ({ ...run, traceUrl: traceLink(run.traceId) });
  const read = (taskId: string) => readFrom<RunRecord>(agent, '/runs/:taskId', {}, { taskId });

  routes.get('/api/files/:assetId', guard, {
    summary: 'Show a file of a user',
    params: z.object({ assetId: z.guid().toLowerCase() }),
    handler: async (request): Promise<ShownFile> => {
      const { params } = request;
      const asset = await readFrom<Asset>(media, '/v1/assets/:assetId', {}, params);
      const { generation } = asset;
      const origin = generation?.taskId ? ` run ${generation.taskId}` : generation?.id ? ` order ${generation.id}` : '';
      await recordDeed(db, request, `view file ${asset.assetId}${origin}`, hashedTarget(asset.ownerId));
      const order = { json: { refs: [params.assetId] }, idempotent: true };
      const response = asset.mime.startsWith('video/')
        ? await media.send({ method: 'POST', route: '/v1/sign/video', ...order })
        : await media.send({ method: 'POST', route: '/v1/sign/image', ...order });
      const one = bodyOf<ImageSignedRefs>(response)[params.assetId];
      if (!one?.ready) throw problems.not_found();
      return { mime: asset.mime, thumbUrl: one.thumbUrl ?? null, url: one.url };
    },
  });

  routes.get('/api/runs', guard, {
    summary: 'Runs of all users',
    querystring: runListing,
    handler: async ({ query }): Promise<ShownRunPage> => {
      const { runs, next_cursor } = await readFrom<RunPage>(agent, '/runs', query);
      return { runs: runs.map(show), next_cursor };
    },
  });

  routes.get('/api/runs/:taskId', guard, {
    summary: 'One run',
    params,
    handler: async (request) => show(await read(request.params.taskId)),
  });

  routes.get('/api/runs/:taskId/events', guard, {
    summary: 'The stream of a run that has ended',
    params,
    handler: async (request): Promise<Replay> => {
      const { taskId } = request.params;
      const { status, userId } = await read(taskId);
      // The stream of a run in progress does not end.
      if (status === 'queued' || status === 'running') throw consoleProblems.run_not_ended();
      const response = await agent.send({ method: 'GET', route: '/stream/:taskId', params: { taskId } });
      if (response.status !== 200) bodyOf(response);
      await recordDeed(db, request, `read stream ${taskId}`, hashedTarget(userId));
      return replayOf(response.body.toString());
    },
  });

  const orders = { querystring: generationRecordListing };
  addForwards(routes, guard, agent, [
    ['get', '/api/threads/titles', '/threads/titles', 'The titles of conversations', { querystring: titlesQuery }],
    ['get', '/api/generations', '/generations/all', 'Generations of all users', orders],
    ['get', '/api/failures', '/runs/failures', 'The number of failed runs of each user', { querystring: failureRange }],
  ]);
}

// The stream of a run that has ended, as a list to read.

const mostEvents = 1000;
const longestText = 20_000;
/** Fields of a chunk that its text does not repeat. */
const namesOfChunk: ReadonlySet<string> = new Set(['type', 'id', 'toolCallId', 'messageId']);

type Chunk = Readonly<Record<string, unknown>> & { readonly type: string };

/** `stream`: server-sent events, each with an id and a chunk of the AI SDK's protocol. */
export function replayOf(stream: string): Replay {
  const events = new Map<string, ReplayedEvent>();
  for (const { id, chunk } of chunksOf(stream)) {
    const { type } = chunk;
    const delta = chunk.delta ?? chunk.inputTextDelta;
    const isPiece = typeof delta === 'string';
    // Without its pieces, the frame of a text contains nothing. Pieces of several calls can alternate.
    if (/^(text|reasoning)-(start|end)$/.test(type) && textOf(chunk) === '') continue;
    const key = isPiece ? `${type} ${chunk.id ?? chunk.toolCallId}` : id;
    const before = events.get(key);
    if (before === undefined && events.size === mostEvents) return { events: [...events.values()], isCut: true };
    const text = isPiece ? (before?.text ?? '') + delta : textOf(chunk);
    events.set(key, { id, type, pieces: (before?.pieces ?? 0) + 1, text: cut(text) });
  }
  return { events: [...events.values()], isCut: false };
}

function* chunksOf(stream: string): Generator<{ readonly id: string; readonly chunk: Chunk }> {
  for (const frame of stream.split('\n\n')) {
    const id = /^id: ?(.*)$/m.exec(frame)?.[1] ?? '';
    const data = /^data: ?(.*)$/m.exec(frame)?.[1];
    if (data === undefined || data === '[DONE]') continue;
    yield { id, chunk: JSON.parse(data) as Chunk };
  }
}

function textOf(chunk: Chunk): string {
  const rest = Object.fromEntries(Object.entries(chunk).filter(([name]) => !namesOfChunk.has(name)));
  return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest);
}

const cut = (text: string) => (text.length > longestText ? `${text.slice(0, longestText)} …` : text);
