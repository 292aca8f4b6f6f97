/** Metrics, spans and metadata of runs that end in different ways, as an operator sees them. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '#platform/log.ts';
import { openTelemetry } from '#platform/telemetry/open.ts';
import { makeImage } from '../media/images.fixture.ts';
import { type CollectedSpan, type Collector, startCollector } from '../operations/collector.fixture.ts';
import { metricsAt } from './metrics.fixture.ts';
import type { ReceivedRequest, ScriptedAnswer } from './provider.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import { calling, imageAnswer, type Outcome, type ScriptedRig, startScripted } from './scripted.fixture.ts';
import { refusal, textStream } from './wire.fixture.ts';

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const secret = 'a word of the conversation';

let collector: Collector;
let rig: ScriptedRig;
let user: Chatter;
let spans: readonly CollectedSpan[];
let fallen: Outcome;
let inFlight: number | undefined;
let metrics: Awaited<ReturnType<typeof metricsAt>>;

const modelOf = ({ body }: ReceivedRequest) => Reflect.get(Object(body), 'model');
/** `main` refuses with this, and its fallback answers. */
const fallingBack =
  (status: number) =>
  (asked: ReceivedRequest): ScriptedAnswer =>
    modelOf(asked) === 'maker/main' ? refusal(status, { 'retry-after': '0' }) : textStream('Spare.', 'stop', usage);

/** A run has ended for its user before its execution is over, and counted. */
const untilIdle = () =>
  vi.waitFor(async () => expect((await metricsAt(rig.url)).value('agent_runs_in_flight')).toBe(0), 10_000);

beforeAll(async () => {
  collector = await startCollector();
  const telemetry = await openTelemetry({ endpoint: collector.url, service: 'agent' });
  rig = await startScripted({
    changes: { server: { log: createLog({ level: 'silent' }), readiness: {}, telemetry } },
    file: (baseUrl) => [
      { id: 'main', baseUrl, model: 'maker/main', fallback: 'spare' },
      { id: 'spare', baseUrl, model: 'maker/spare' },
    ],
  });
  user = await rig.user('pro', 1000);
  await rig.runScript(user, [textStream(`${secret}, said by the model`, 'stop', usage)]);
  rig.provider.on('a bee', imageAnswer(await makeImage('png')));
  await rig.runScript(user, calling('generateImage', { prompt: `a bee, ${secret}` }));
  rig.provider.on('a wasp', refusal(400));
  await rig.runScript(user, calling('generateImage', { prompt: 'a wasp' }));
  rig.provider.on('<falls>', fallingBack(500));
  fallen = await rig.runText(user, newThread(), '<falls>');
  await rig.runScript(user, [refusal(401)]);
  await untilIdle();
  rig.provider.on('<hangs>', { hang: true });
  const asked = rig.provider.requests.length;
  const taskId = await user.ask(newThread(), `<hangs> ${secret}`);
  // The answer to the user precedes the start of the run.
  await vi.waitFor(() => expect(rig.provider.requests.length).toBe(asked + 1), 10_000);
  inFlight = (await metricsAt(rig.url)).value('agent_runs_in_flight');
  await user.call('DELETE', `/task/${taskId}`);
  await user.ended(taskId);
  await untilIdle();
  metrics = await metricsAt(rig.url);
  await telemetry.stop();
  spans = collector.spans;
});
afterAll(async () => {
  await rig.close();
  await collector.close();
});

describe('metrics', () => {
  it.each([
    ['agent_runs_total', { status: 'completed', model: 'main' }, 4],
    ['agent_runs_total', { status: 'failed', model: 'main' }, 1],
    ['agent_runs_total', { status: 'aborted', model: 'main' }, 1],
    ['agent_tokens_total', { model: 'main', direction: 'input' }, 200],
    ['agent_tokens_total', { model: 'main', direction: 'output' }, 40],
    ['agent_tool_calls_total', { tool: 'generateImage', status: 'completed' }, 1],
    ['agent_tool_calls_total', { tool: 'generateImage', status: 'failed' }, 1],
    ['agent_first_token_seconds_count', {}, 4],
    ['agent_run_seconds_count', {}, 6],
  ])('%s %o is %d', (name, labels, value) => {
    expect(metrics.value(name, labels)).toBe(value);
  });

  it('agent_runs_in_flight counts a run while it is in progress', () => {
    expect([inFlight, metrics.value('agent_runs_in_flight')]).toEqual([1, 0]);
  });
});

describe('spans', () => {
  const of = (name: string) => spans.filter((span) => span.name === name);
  const task = ({ parentSpanId }: CollectedSpan) => spans.find(({ spanId }) => spanId === parentSpanId)?.name;

  it('each model call has one, with the model, the finish reason and the tokens', () => {
    const [first] = of('chat maker/main');
    expect(first).toMatchObject({ kind: 3, isFailed: false });
    expect(first?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai-compatible',
      'gen_ai.request.model': 'maker/main',
      'gen_ai.response.id': '1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
    });
  });

  it('a step that calls tools has its finish reason, and the model that the provider names', () => {
    expect(of('chat maker/main').map(({ attributes }) => attributes)).toContainEqual(
      expect.objectContaining({
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.response.model': 'a-model',
      }),
    );
  });

  it('each try of a model that refuses has one, and so has its fallback', () => {
    const refused = of('chat maker/main').filter(({ attributes }) => attributes['error.type'] === '500');
    expect(refused).toHaveLength(3);
    expect(refused.every(({ isFailed }) => isFailed)).toBe(true);
    expect(of('chat maker/spare')).toHaveLength(1);
    expect(of('chat maker/main').filter(({ attributes }) => attributes['error.type'] === '401')).toHaveLength(1);
  });

  it('each tool call has one, which reports a failure', () => {
    const calls = of('execute_tool generateImage');
    expect(calls.map(({ kind, isFailed, attributes }) => [kind, isFailed, attributes['error.type']])).toEqual([
      [1, false, undefined],
      [1, true, 'rejected'],
    ]);
    expect(calls[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'generateImage',
      'gen_ai.tool.call.id': 'call_0',
      'gen_ai.tool.type': 'function',
    });
  });

  it('belong to the request that started the run', () => {
    const names = ['chat maker/main', 'chat maker/spare', 'execute_tool generateImage'];
    for (const span of names.flatMap(of)) expect(task(span)).toBe('POST /task');
  });

  it('an aborted call is no failure', () => {
    expect(spans.filter(({ attributes }) => /abort/i.test(String(attributes['error.type'])))).toEqual([]);
  });

  it('have no word of a prompt or of an answer', () => {
    expect(JSON.stringify(spans)).not.toContain(secret);
    expect(JSON.stringify(spans)).not.toContain('Spare.');
  });
});

describe('the answer of a fallback', () => {
  it('names the requested model, whose plan and price count, and the one that answered', async () => {
    expect(fallen.answer?.metadata).toMatchObject({ model: 'main', answeredBy: 'spare', finishReason: 'stop' });
    const { body } = await user.call<{ days: { model: string }[] }>('GET', '/usage');
    expect(body.days.map(({ model }) => model)).toEqual(['main']);
  });

  it('is not called when the provider returns 408 to each attempt', async () => {
    rig.provider.on('<slow upload>', fallingBack(408));
    const { status, error } = await rig.runText(user, newThread(), '<slow upload>');
    expect([status, error]).toEqual(['failed', 'The model provider returned 408.']);
  });

  it.each([429, 503])('is called when the provider returns %d to each attempt', async (code) => {
    rig.provider.on(`<busy ${code}>`, fallingBack(code));
    expect(await rig.runText(user, newThread(), `<busy ${code}>`)).toMatchObject({ status: 'completed' });
  });
});
