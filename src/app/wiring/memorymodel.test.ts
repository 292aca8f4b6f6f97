import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryModel } from '#memory/model/languagemodel.ts';
import { createLog } from '#platform/log.ts';
import { type ModelServer, startModelServer } from '../../../test/memory/modelserver.fixture.ts';
import { readConfig } from '../config.ts';
import { hasMemoryModel, openMemoryModel } from './memorymodel.ts';

const log = createLog({ level: 'silent' });
const configOf = (environment: Readonly<Record<string, string>>) => readConfig(environment, [], { keepSecrets: false });

describe('the language model of memories', () => {
  let agents: ModelServer;
  let own: ModelServer;
  beforeAll(async () => {
    agents = await startModelServer();
    own = await startModelServer();
  });
  afterAll(() => {
    agents.close();
    own.close();
  });

  /** Who is asked, for which model, with which key. */
  async function requestOf(settings: Readonly<Record<string, string>>) {
    const agent = { MODEL_BASE_URL: agents.url, MODEL_NAME: 'first,second', MODEL_API_KEY: 'key-of-agent' };
    const opened = await openMemoryModel({ config: configOf({ ...agent, ...settings }), log, telemetry: undefined });
    if (opened === undefined) return undefined;
    const answer = z.strictObject({ memories: z.array(z.string()) });
    const question = { name: 'extract_memories', instructions: 'x', data: {}, answer };
    await createMemoryModel(opened).ask(question, new AbortController().signal);
    const seen = [...agents.requests.splice(0).map(named('agent')), ...own.requests.splice(0).map(named('own'))];
    return seen[0];
  }
  const named = (server: string) => (request: { model: string; authorization: string | undefined }) => [
    server,
    request.model,
    request.authorization,
  ];

  it("is the agent's first model by default", async () => {
    expect(await requestOf({})).toEqual(['agent', 'first', 'Bearer key-of-agent']);
  });

  it('can be another model of the same server', async () => {
    expect(await requestOf({ MEMORY_MODEL_NAME: 'small' })).toEqual(['agent', 'small', 'Bearer key-of-agent']);
  });

  it("can have its own server, which does not get the agent's key", async () => {
    const settings = { MEMORY_MODEL_BASE_URL: own.url };
    expect(await requestOf(settings)).toEqual(['own', 'first', undefined]);
    const withKey = { ...settings, MEMORY_MODEL_API_KEY: 'key-of-judge', MEMORY_MODEL_NAME: 'small' };
    expect(await requestOf(withKey)).toEqual(['own', 'small', 'Bearer key-of-judge']);
  });

  it('is off by a setting, or without a real model', async () => {
    expect(await requestOf({ MEMORY_MODEL_BASE_URL: 'off' })).toBeUndefined();
    expect(await requestOf({ MEMORY_MODEL_NAME: 'off' })).toBeUndefined();
    expect(hasMemoryModel(configOf({}))).toBe(false);
  });

  it('is a start fault with a URL and no name', async () => {
    const config = configOf({ MEMORY_MODEL_BASE_URL: own.url });
    await expect(openMemoryModel({ config, log, telemetry: undefined })).rejects.toThrow(/MEMORY_MODEL_NAME/);
  });
});
