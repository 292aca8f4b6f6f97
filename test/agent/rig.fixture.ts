/** The agent over engines of its own, beside real media and edge services and a memory that keeps to its contract. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Plan } from '#accounts/api.ts';
import { type AccountTables, ensureProfile, findProfile } from '#accounts/store.ts';
import type { TaskInfo } from '#agent/api.ts';
import { imageModel, videoModel } from '#agent/generation/catalogue.ts';
import type { ImageGenerator, VideoGenerator } from '#agent/providers/generators.ts';
import { type AgentDeps, createAgent } from '#agent/service.ts';
import { offlineModel } from '#local/model/model.ts';
import { offlineImages, offlineVideos } from '#local/renderer/renderer.ts';
import { createAccess } from '#platform/access/access.ts';
import { createClient } from '#platform/http/client.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { openPubSub } from '#platform/pubsub/open.ts';
import { setPlanAndCredits } from '../credits.fixture.ts';
import { type EnginePair, type MediaRig, type MediaRigOptions, startMedia } from '../media/rig.fixture.ts';
import { type ReadOptions, readStream, type SeenStream } from './stream.fixture.ts';

const log = createLog({ level: process.env.AGENT_TEST_LOG ?? 'silent' });

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Message {
  readonly id: string;
  readonly role: string;
  readonly metadata: Record<string, unknown>;
  readonly parts: readonly (Record<string, unknown> & { readonly type: string })[];
}

/** A caller with a credential. */
export interface Chatter {
  readonly userId: string;
  readonly credential: Readonly<Record<string, string>>;
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: object,
  ): Promise<Answer<Body>>;
  /** Starts a run and gives its task id; throws unless it is 201. */
  ask(threadId: string, text: string): Promise<string>;
  stream(taskId: string, options?: ReadOptions): Promise<SeenStream>;
  task(taskId: string): Promise<TaskInfo>;
  /** Once it runs no more. */
  ended(taskId: string): Promise<TaskInfo>;
  messages(threadId: string): Promise<readonly Message[]>;
}

export interface Opened {
  readonly url: string;
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface AgentRig {
  readonly url: string;
  readonly media: MediaRig;
  readonly memories: string[];
  /** A user of its own, with this plan and credits. */
  user(plan?: Plan, credits?: number): Promise<Chatter>;
  readonly server: Chatter;
  credits(chatter: Chatter): Promise<number>;
  /** One more instance over the same engines. */
  another(changes?: AgentChanges): Promise<Opened>;
  at(url: string, chatter: Chatter): Chatter;
  close(): Promise<void>;
}

export const testSettings: AgentDeps['settings'] = {
  taskTtlS: 3600,
  maxRunsPerUser: 10,
  maxVideosPerUser: 5,
  maxToolCallsPerStep: 16,
  maxRunCredits: 200,
  freeCancels: 10,
  budgetDailyUsd: undefined,
  budgetMonthlyUsd: undefined,
  cmsMediaHosts: [],
  drainS: 5,
  toolApproval: {},
  approvalCredits: 0,
  continueRuns: true,
  maxRestarts: 2,
  maxSteps: 8,
  instructions: undefined,
  extractMemories: false,
  promptScreeningUrl: undefined,
  promptScreeningKey: undefined,
  promptScreeningModel: undefined,
  promptScreeningFail: 'closed',
  mcpServers: [],
  mcpAllowPrivate: false,
};

/** The settings of the model, with these changes; the offline model without any. */
export const modelsOf = (changes: Partial<AgentDeps['model']>): AgentDeps['model'] => ({
  url: 'offline',
  apiKey: undefined,
  names: [],
  runCredits: 1,
  contextTokens: 128_000,
  firstTokenTimeoutS: 300,
  idleTimeoutS: 120,
  temperature: undefined,
  maxOutputTokens: undefined,
  reasoningEffort: undefined,
  headers: {},
  query: {},
  file: undefined,
  ...changes,
});

export const newThread = (): string => `t-${randomUUID()}`;

/** Each generator makes the one model of its kind. */
export type AgentChanges = Partial<AgentDeps> & {
  readonly imageGenerator?: ImageGenerator;
  readonly videoGenerator?: VideoGenerator;
};

export async function startAgent(
  pair: EnginePair,
  { imageGenerator = offlineImages, videoGenerator = offlineVideos, ...changes }: AgentChanges = {},
  mediaOptions: MediaRigOptions = {},
): Promise<AgentRig> {
  const media = await startMedia(pair, mediaOptions);
  const memory = await startMemory();
  const { database, issuer, internalKey } = media;
  const clientOf = (name: string, baseUrl: string) =>
    createClient({ name, baseUrl, isInternal: true, internalKey, timeoutMs: 10_000 });
  const clients = [clientOf('media', media.url), clientOf('memory', memory.url)] as const;
  const rest = ({ imageGenerator: _image, videoGenerator: _video, ...others }: AgentChanges) => others;
  const open = async (more: AgentChanges) => {
    const jobs = createJobs({ database, log });
    const app = await createAgent({
      server: { log, readiness: { database: () => database.check() } },
      agentOrigins: ['https://*.app.example'],
      internalKeys: [internalKey],
      access: createAccess({ internalKeys: [internalKey], jwksUrl: issuer.jwksUrl, log }),
      database,
      redis: undefined,
      pubsub: openPubSub({ redis: undefined, name: `agent-${randomUUID()}`, log }),
      jobs,
      startingCredits: 100,
      media: clients[0],
      memory: clients[1],
      budgetAlerts: { notify: clients[1], operators: [] },
      settings: testSettings,
      model: modelsOf({}),
      ownUrls: [media.edgeUrl],
      offlineModel,
      catalogue: {
        images: [imageModel(more.imageGenerator ?? imageGenerator, { id: 'an-image-model' })],
        videos: [videoModel(more.videoGenerator ?? videoGenerator, { id: 'a-video-model' })],
      },
      ...changes,
      ...rest(more),
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return {
      url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
      drain: () => app.drain(),
      close: () => app.close().finally(() => jobs.stop()),
    };
  };
  const first = await open({});
  const accounts = database.queries<AccountTables>();
  const others: { close(): Promise<void> }[] = [];
  return {
    url: first.url,
    media,
    memories: memory.memories,
    async user(plan = 'pro', credits = 1000) {
      const userId = randomUUID();
      await setPlanAndCredits(accounts, (await ensureProfile(accounts, { id: userId })).id, plan, credits);
      return chatter(first.url, userId, { authorization: `Bearer ${await issuer.token({ sub: userId })}` });
    },
    server: chatter(first.url, '', { 'x-internal-key': internalKey }),
    credits: async ({ userId }) => (await findProfile(accounts, userId))?.credits ?? Number.NaN,
    async another(more = {}) {
      // In one process they would take each other for dead when they start; so these come with their own pace.
      const opened = await open(more);
      others.push(opened);
      return opened;
    },
    at: (url, { userId, credential }) => chatter(url, userId, credential),
    async close() {
      await Promise.all([first.close(), ...others.map((other) => other.close())]);
      await Promise.all(clients.map((client) => client.close()));
      memory.close();
      await media.close();
    },
  };
}

export function chatter(url: string, userId: string, credential: Readonly<Record<string, string>>): Chatter {
  async function call<Body>(method: string, path: string, body?: unknown, headers = {}): Promise<Answer<Body>> {
    const response = await fetch(url + path, {
      method,
      headers: { ...credential, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Body };
  }
  const task = async (taskId: string) => (await call<TaskInfo>('GET', `/task/${taskId}`)).body;
  return {
    userId,
    credential,
    call,
    async ask(threadId, text) {
      const { status, body } = await call<Record<string, unknown>>('POST', '/task', {
        threadId,
        text,
        ...(userId && { userId }),
      });
      if (status !== 201) throw new Error(`POST /task was answered ${status}: ${JSON.stringify(body)}`);
      return String(body.taskId);
    },
    stream: (taskId, options) => readStream(`${url}/stream/${taskId}`, credential, options),
    task,
    async ended(taskId) {
      for (;;) {
        const found = await task(taskId);
        if (found.status !== 'running' && found.status !== 'queued') return found;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    },
    messages: async (threadId) => (await call<{ messages: Message[] }>('GET', `/messages/${threadId}`)).body.messages,
  };
}

/** What the agent needs of the memory service (docs/specification/memory.md#inject), over its wire. */
async function startMemory() {
  const memories: string[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Record<string, string>;
    const answer = (status: number, json: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    };
    const found = memories.map((content) => ({ id: randomUUID(), content }));
    if (request.url === '/inject') return answer(200, { profile: null, group_profile: null, memories: found });
    if (request.url === '/memory/search') return answer(200, { memories: found });
    memories.push(body.content ?? '');
    answer(201, { id: randomUUID(), deduplicated: false });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    memories,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
