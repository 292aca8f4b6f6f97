/** Providers that fail, hang or respond in unusual forms, by the effect on the user's run and its cost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedRequest, ScriptedAnswer } from '../../../test/agent/provider.fixture.ts';
import { type Chatter, modelsOf, newThread } from '../../../test/agent/rig.fixture.ts';
import {
  calling,
  imageAnswer,
  providerKey,
  type ScriptedRig,
  startScripted,
} from '../../../test/agent/scripted.fixture.ts';
import { messagesOf, refusal, textStream } from '../../../test/agent/wire.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';

let rig: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  rig = await startScripted();
  user = await rig.user('pro', 10_000);
});
afterAll(() => rig.close());

const callsSince = (count: number, path = '/chat/completions') =>
  rig.provider.requests.slice(count).filter((one) => one.path.endsWith(path)).length;

describe('finish reasons', () => {
  it.each(['stop', 'length', 'eos', 'eos_token', 'end_turn', 'STOP', 'max_tokens', 'refusal'])(
    '%s ends the answer well, and is kept',
    async (reason) => {
      const { status, error, answer } = await rig.runScript(user, [textStream('The whole answer.', reason)]);
      expect([status, error, answer?.metadata.finishReason]).toEqual(['completed', null, reason]);
    },
  );

  it('an empty one ends the answer well', async () => {
    expect((await rig.runScript(user, [textStream('The whole answer.', '')])).status).toBe('completed');
  });

  it('without one the answer has broken off', async () => {
    const { status, error } = await rig.runScript(user, [textStream('Half')]);
    expect([status, error]).toEqual(['failed', 'The model stopped in the middle of its answer.']);
  });

  it('the last step ends a complete answer with max-steps', async () => {
    const call = calling('recallMemory', { query: 'bees' })[0];
    if (call === undefined) throw new Error('there is no call');
    const before = rig.provider.requests.length;
    const { status, answer } = await rig.runScript(user, [call]);
    expect([status, answer?.metadata.finishReason, callsSince(before)]).toEqual(['completed', 'max-steps', 8]);
  });
});

describe('a provider that refuses for a while', () => {
  it.each([408, 429, 500, 502, 503])('%i is tried again', async (status) => {
    const outcome = await rig.runScript(user, [refusal(status, { 'retry-after': '0' }), textStream('Well.', 'stop')]);
    expect([outcome.status, outcome.error]).toEqual(['completed', null]);
  });

  it('is tried three times', async () => {
    const before = rig.provider.requests.length;
    const { status, error } = await rig.runScript(user, [refusal(503, { 'retry-after': '0' })]);
    expect([status, error, callsSince(before)]).toEqual(['failed', 'The model provider returned 503.', 3]);
  });

  it('fails immediately if it requests a pause of more than 30 s', async () => {
    const before = rig.provider.requests.length;
    const { status } = await rig.runScript(user, [refusal(429, { 'retry-after': '31' })]);
    expect([status, callsSince(before)]).toEqual(['failed', 1]);
  });

  it('is not retried after a permanent error (401)', async () => {
    const before = rig.provider.requests.length;
    expect((await rig.runScript(user, [refusal(401)])).status).toBe('failed');
    expect(callsSince(before)).toBe(1);
  });
});

describe('a prompt that is too long', () => {
  it('is sent again with the newest half, starting at a user message', async () => {
    const threadId = newThread();
    for (let index = 0; index < 6; index++)
      await rig.runScript(user, [textStream(`Answer ${index}`, 'stop')], threadId);
    const before = rig.provider.requests.length;
    const tooLong = refusal(400, {}, "This model's maximum context length is 8192 tokens.");
    const { status } = await rig.runScript(user, [tooLong, textStream('Short.', 'stop')], threadId);
    expect([status, callsSince(before)]).toEqual(['completed', 2]);
    const [whole, half] = rig.provider.requests.slice(before).map(messagesOf);
    expect(half?.length).toBeLessThan((whole?.length ?? 0) * 0.7);
    expect(half?.map(({ role }) => role).slice(0, 2)).toEqual(['system', 'user']);
    expect(half?.at(-1)).toEqual(whole?.at(-1));
  });

  it('of one long message is sent again with half of its text', async () => {
    rig.provider.on('<long>', refusal(400, {}, 'Prompt is too long.'), textStream('Short.', 'stop'));
    const before = rig.provider.requests.length;
    const { status } = await rig.runText(user, newThread(), `<long> ${'bees '.repeat(10_000)}`);
    const sizes = rig.provider.requests.slice(before).map((asked) => JSON.stringify(messagesOf(asked)).length);
    expect([status, sizes.length]).toEqual(['completed', 2]);
    expect((sizes[1] ?? 0) / (sizes[0] ?? 1)).toBeCloseTo(0.5, 1);
  });

  it('is cut to the context of the model before it is sent', async () => {
    const small = await startScripted({
      changes: {},
      model: { contextTokens: 8000 },
    });
    try {
      const poor = await small.user('pro', 100);
      const threadId = newThread();
      const long = 'bees '.repeat(1500);
      for (let index = 0; index < 5; index++) await small.runScript(poor, [textStream(long, 'stop')], threadId);
      const before = small.provider.requests.length;
      expect((await small.runScript(poor, [textStream('Short.', 'stop')], threadId)).status).toBe('completed');
      const sent = messagesOf(small.provider.requests[before] ?? expect.fail('nothing was sent'));
      expect(JSON.stringify(sent).length).toBeLessThan(8000 * 4);
      expect(sent[1]?.role).toBe('user');
    } finally {
      await small.close();
    }
  });
});

describe('a provider of images', () => {
  it('is called again after a short overload', async () => {
    rig.provider.on('a blue bee', refusal(429, { 'retry-after': '0' }), imageAnswer(await makeImage('png')));
    const { status, tools } = await rig.runScript(user, calling('generateImage', { prompt: 'a blue bee' }));
    expect([status, tools[0]?.output]).toMatchObject(['completed', { status: 'completed' }]);
  });

  it('that fails adds its error to the prompt and to the message; the run continues, and the image is free', async () => {
    rig.provider.on('a green bee', refusal(503, { 'retry-after': '0' }));
    const poor = await rig.user('pro', 10);
    const before = rig.provider.requests.length;
    const { status, tools, answer } = await rig.runScript(poor, calling('generateImage', { prompt: 'a green bee' }));
    expect([status, callsSince(before, '/images/generations')]).toEqual(['completed', 3]);
    const failure = { code: 'provider_failed', message: 'The image provider returned 503.', retryable: true };
    expect(tools[0]?.output).toMatchObject({ status: 'failed', failure });
    expect(JSON.stringify(rig.provider.requests.at(-1)?.body)).toContain('provider_failed');
    expect([await rig.credits(poor), answer?.metadata.credits]).toEqual([9, 1]);
  });

  it('receives at most four concurrent requests of a run', async () => {
    let working = 0;
    let most = 0;
    const bytes = await makeImage('png');
    const four = Promise.withResolvers<void>();
    const make = async () => {
      working += 1;
      most = Math.max(most, working);
      if (working === 4) four.resolve();
      await four.promise;
      // A fifth order would come now.
      await new Promise((resolve) => setTimeout(resolve, 50));
      working -= 1;
      return { bytes, mime: 'image/png' };
    };
    const busy = await startScripted({ changes: { imageGenerator: { generate: make, edit: make } } });
    try {
      const calls = Array.from({ length: 9 }, (_, index) => ({
        id: `c${index}`,
        name: 'generateImage',
        args: { prompt: 'p' },
      }));
      const { status, tools } = await busy.runScript(await busy.user('pro', 100), [{ calls }, { text: 'Done.' }]);
      expect([status, tools.length, most]).toEqual(['completed', 9, 4]);
    } finally {
      await busy.close();
    }
  });
});

describe('settings of the model', () => {
  it('reach the provider', async () => {
    const custom = await startScripted({
      model: {
        temperature: 0.3,
        maxOutputTokens: 777,
        reasoningEffort: 'low',
        headers: { 'x-title': 'Bees' },
        query: { 'api-version': '2026-01-01' },
      },
      settings: { instructions: 'You only speak of bees.' },
    });
    try {
      await custom.runScript(await custom.user('pro', 10), [textStream('Buzz.', 'stop')]);
      const request = custom.provider.requests.at(-1);
      expect(request?.path).toBe('/v1/chat/completions?api-version=2026-01-01');
      expect(request?.headers['x-title']).toBe('Bees');
      expect(request?.body).toMatchObject({
        temperature: 0.3,
        max_tokens: 777,
        reasoning_effort: 'low',
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: expect.stringMatching(/^You only speak of bees\.\nToday is [-\d]{10}\.$/) },
          { role: 'user' },
        ],
      });
    } finally {
      await custom.close();
    }
  });
});

describe('several models', () => {
  it('have their own plans, prices and fallback', async () => {
    const several = await startScripted();
    const { url } = several.provider;
    const file = [
      { id: 'small', baseUrl: url, model: 'maker/small', apiKeyEnv: 'SMALL_KEY', label: 'Small' },
      { id: 'large', baseUrl: url, model: 'maker/large', plans: ['max' as const], credits: 5, vision: false },
      { id: 'broken', baseUrl: 'http://127.0.0.1:9/v1', model: 'maker/broken', fallback: 'small', credits: 2 },
    ];
    const other = await several.another({ model: modelsOf({ file }), readKey: () => providerKey, pace: {} });
    try {
      const [pro, max] = [await several.user('pro', 10), await several.user('max', 10)];
      const at = (chatter: Chatter) => several.at(other.url, chatter);
      const { body } = await at(pro).call('GET', '/models?kind=chat');
      expect(body).toEqual({
        models: [
          {
            kind: 'chat',
            id: 'small',
            label: 'Small',
            vision: true,
            tools: true,
            credits: 1,
            allowed: true,
            default: true,
          },
          {
            kind: 'chat',
            id: 'large',
            label: 'large',
            vision: false,
            tools: true,
            credits: 5,
            allowed: false,
            default: false,
          },
          {
            kind: 'chat',
            id: 'broken',
            label: 'broken',
            vision: true,
            tools: true,
            credits: 2,
            allowed: true,
            default: false,
          },
        ],
      });
      const start = async (chatter: Chatter, model: string) => {
        several.provider.on(`<${model}>`, textStream('Yes.', 'stop'));
        return at(chatter).call('POST', '/task', { threadId: newThread(), text: `<${model}>`, model });
      };
      expect(await start(pro, 'large')).toMatchObject({ status: 402, body: { error: 'insufficient_plan' } });
      expect(await start(pro, 'unknown')).toMatchObject({ status: 400 });
      expect(await several.credits(pro)).toBe(10);
      const large = await start(max, 'large');
      expect((await at(max).ended(String(large.body.taskId))).status).toBe('completed');
      expect(await several.credits(max)).toBe(5);
      const fallen = await start(pro, 'broken');
      expect(await at(pro).ended(String(fallen.body.taskId))).toMatchObject({ status: 'completed', error: null });
      expect(several.provider.requests.at(-1)?.body).toMatchObject({ model: 'maker/small' });
      expect(several.provider.requests.at(-1)?.authorization).toBe(`Bearer ${providerKey}`);
      expect(await several.credits(pro)).toBe(8);
    } finally {
      await several.close();
    }
  });
});

describe('a model without a first token in time', () => {
  const roleOnly = 'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';

  it.each([
    ['not a byte', { hang: true }],
    ['an empty role chunk', { answer: { type: 'text/event-stream', body: roleOnly, stall: true } }],
  ] satisfies readonly (readonly [string, ScriptedAnswer])[])(
    '%s: is not tried again, and its fallback answers',
    async (_title, scripted) => {
      const patient = await startScripted({ patienceMs: 700 });
      const { url } = patient.provider;
      const file = [
        { id: 'slow', baseUrl: url, model: 'maker/slow', fallback: 'quick' },
        { id: 'quick', baseUrl: url, model: 'maker/quick' },
      ];
      const other = await patient.another({ model: modelsOf({ file }), pace: { idleMs: 700 } });
      try {
        const isSlow = ({ body }: ReceivedRequest) => Reflect.get(Object(body), 'model') === 'maker/slow';
        patient.provider.on('<slowly>', (request) => (isSlow(request) ? scripted : textStream('Quick.', 'stop')));
        const speaker = patient.at(other.url, await patient.user('pro', 10));
        const taskId = await speaker.ask(newThread(), '<slowly>');
        expect(await speaker.ended(taskId)).toMatchObject({ status: 'completed', error: null });
        expect(patient.provider.requests.map(({ body }) => Reflect.get(Object(body), 'model'))).toEqual([
          'maker/slow',
          'maker/quick',
        ]);
      } finally {
        await patient.close();
      }
    },
  );
});

describe('usage', () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 5 },
  };

  it('is stored with the answer, and summed by day and model', async () => {
    const spender = await rig.user('pro', 100);
    const { answer } = await rig.runScript(spender, [textStream('Yes.', 'stop', usage)]);
    expect(answer?.metadata).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120, reasoningTokens: 5, cachedInputTokens: 60 },
      credits: 1,
    });
    rig.provider.on('a paid bee', imageAnswer(await makeImage('png')));
    const drawn = await rig.runScript(spender, calling('generateImage', { prompt: 'a paid bee' }));
    expect(drawn.answer?.metadata).toMatchObject({ usage: { inputTokens: null, reasoningTokens: null }, credits: 3 });
    const day = new Date().toISOString().slice(0, 10);
    const spent = {
      day,
      model: 'a-model',
      runs: 2,
      inputTokens: 100,
      outputTokens: 20,
      images: 1,
      videos: 0,
      credits: 4,
    };
    expect((await spender.call('GET', '/usage')).body).toEqual({ days: [spent] });
    const named = await rig.server.call('GET', `/usage?userId=${spender.userId}&from=${day}&to=${day}`);
    expect(named.body).toEqual({ days: [spent] });
    expect((await spender.call('GET', '/usage?from=2020-01-01&to=2020-01-31')).body).toEqual({ days: [] });
    expect((await spender.call('GET', '/credits')).body).toEqual({
      plan: 'pro',
      credits: 96,
      prices: { run: 1, image: 2, video: 40 },
    });
  });

  it.each(['/usage', '/credits'])('%s returns 400 to a server that names no user', async (path) => {
    expect((await rig.server.call('GET', path)).status).toBe(400);
  });

  it.each(['?from=yesterday', '?from=2026-02-01&to=2026-01-01', '?to=2026-13-01'])(
    '%s is no range: 400',
    async (query) => {
      expect((await user.call('GET', `/usage${query}`)).status).toBe(400);
    },
  );
});
