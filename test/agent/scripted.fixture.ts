/** An agent whose model, images and videos come from a provider that a test scripts. */
import { openImageProvider, openVideoProvider } from '#agent/providers/openaimedia.ts';
import type { AgentDeps } from '#agent/service.ts';
import { embedded, type MediaRigOptions } from '../media/rig.fixture.ts';
import { type Provider, type ScriptedAnswer, startProvider } from './provider.fixture.ts';
import {
  type AgentChanges,
  type AgentRig,
  type Chatter,
  type Message,
  modelsOf,
  newThread,
  startAgent,
  testSettings,
} from './rig.fixture.ts';

export const providerKey = 'a key of the provider';
/** For what never comes; long enough for what does, on a machine that is busy. */
export const impatient = { patienceMs: 5000 };

export interface Outcome {
  readonly threadId: string;
  readonly taskId: string;
  readonly status: string;
  readonly error: string | null;
  readonly answer: Message | undefined;
  /** Of the answer, its tools' parts. */
  readonly tools: readonly Message['parts'][number][];
}

export interface ScriptedRig extends AgentRig {
  readonly provider: Provider;
  /** One run, from its question to its end. The model returns these answers in order. */
  runScript(user: Chatter, script: readonly ScriptedAnswer[], threadId?: string): Promise<Outcome>;
  /** One run, from its question to its end. */
  runText(user: Chatter, threadId: string, text: string): Promise<Outcome>;
}

export interface ScriptedOptions {
  readonly changes?: AgentChanges;
  readonly model?: Partial<AgentDeps['model']>;
  /** `MODELS_FILE`, at this base URL of the provider. */
  readonly file?: (baseUrl: string) => NonNullable<AgentDeps['model']['file']>;
  readonly settings?: Partial<AgentDeps['settings']>;
  readonly screening?: MediaRigOptions;
  /** A text or an image that takes longer is given up. */
  readonly patienceMs?: number;
}

export async function startScripted({
  changes = {},
  screening = {},
  model = {},
  file,
  settings: settingChanges = {},
  patienceMs = 100_000,
}: ScriptedOptions = {}): Promise<ScriptedRig> {
  const provider = await startProvider();
  const settings = { url: provider.url, apiKey: providerKey, name: 'a-maker' };
  const rig = await startAgent(
    embedded,
    {
      model: modelsOf({
        url: provider.url,
        apiKey: providerKey,
        names: ['a-model'],
        file: file?.(provider.url),
        ...model,
      }),
      settings: { ...testSettings, ...settingChanges },
      imageGenerator: openImageProvider(settings, patienceMs),
      videoGenerator: openVideoProvider(settings, 20),
      pace: { idleMs: patienceMs },
      ...changes,
    },
    screening,
  );
  let runs = 0;
  const runText = async (user: Chatter, threadId: string, text: string): Promise<Outcome> => {
    const taskId = await user.ask(threadId, text);
    const { status, error } = await user.ended(taskId);
    const answer = (await user.messages(threadId)).find(({ metadata }) => metadata.taskId === taskId);
    const tools = (answer?.parts ?? []).filter(({ type }) => /^(tool-|dynamic-tool)/.test(type));
    return { threadId, taskId, status, error, answer, tools };
  };
  return {
    ...rig,
    provider,
    runText: runText,
    runScript(user, script, threadId = newThread()) {
      runs += 1;
      const word = `<run ${runs}>`;
      provider.on(word, ...script);
      return runText(user, threadId, word);
    },
    async close() {
      await rig.close();
      provider.close();
    },
  };
}

/** Two answers: the call, and a word about it. */
export const calling = (name: string, args: object | string, id = 'call_0'): readonly ScriptedAnswer[] => [
  { calls: [{ id, name, args }] },
  { text: 'So be it.' },
];

export const json = (body: unknown, status = 200): ScriptedAnswer => ({
  answer: { status, body: JSON.stringify(body) },
});
export const imageAnswer = (bytes: Uint8Array): ScriptedAnswer =>
  json({ data: [{ b64_json: Buffer.from(bytes).toString('base64') }] });
