/** The wires of providers whose packages of the AI SDK are used: OpenAI's Responses API, Anthropic's and Google's. */
import { dataLines, events, json } from './wire.fixture.ts';
import { usageOf, type WireCase } from './wirecase.fixture.ts';

const key = 'a key of the provider';

const openAiCall = events(
  dataLines(
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
    },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'recallMemory', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"query":' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '"bees"}' },
    { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 1, arguments: '{"query":"bees"}' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'recallMemory',
        arguments: '{"query":"bees"}',
        status: 'completed',
      },
    },
    {
      type: 'response.completed',
      response: {
        usage: {
          input_tokens: 40,
          input_tokens_details: { cached_tokens: 16 },
          output_tokens: 20,
          output_tokens_details: { reasoning_tokens: 12 },
        },
      },
    },
  ),
);

const openAiText = (end: object) =>
  events(
    dataLines(
      { type: 'response.created', response: { id: 'resp_2', created_at: 1, model: 'gpt-5' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'You like ' },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'bees.' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'message', id: 'msg_1', role: 'assistant', content: [], status: 'completed' },
      },
      end,
    ),
  );
const openAiUsage = {
  input_tokens: 60,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
};

const openAi: readonly WireCase[] = [
  {
    title: 'openai: a tool call and an answer over the Responses API, which stores nothing',
    provider: 'openai',
    path: '/v1',
    answers: [openAiCall, openAiText({ type: 'response.completed', response: { usage: openAiUsage } })],
    request: {
      path: '/v1/responses',
      headers: { authorization: `Bearer ${key}` },
      body: { stream: true, store: false },
    },
    expected: {
      status: 'completed',
      text: 'You like bees.',
      finishReason: 'stop',
      toolInput: { query: 'bees' },
      usage: usageOf(100, 25, { reasoning: 12, cached: 16 }),
      requests: 2,
    },
  },
  {
    title: 'openai: an answer that reaches the token limit',
    provider: 'openai',
    path: '/v1',
    answers: [
      openAiText({
        type: 'response.incomplete',
        response: { incomplete_details: { reason: 'max_output_tokens' }, usage: openAiUsage },
      }),
    ],
    expected: { status: 'completed', text: 'You like bees.', finishReason: 'length' },
  },
  {
    title: 'openai: a failure in the middle of the stream',
    provider: 'openai',
    path: '/v1',
    answers: [
      openAiText({
        type: 'response.failed',
        sequence_number: 9,
        response: { error: { code: 'server_error', message: 'secret sk-1' } },
      }),
    ],
    expected: { status: 'failed', text: 'You like bees.' },
  },
  {
    title: 'openai: a stream that breaks off',
    provider: 'openai',
    path: '/v1',
    answers: [
      events(
        dataLines(
          { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } },
          { type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta: 'You like' },
        ),
      ),
    ],
    expected: {
      status: 'failed',
      text: 'You like',
      error: 'The model stopped in the middle of its answer.',
      requests: 1,
    },
  },
  {
    title: 'openai: a stream that breaks off before the first word',
    provider: 'openai',
    path: '/v1',
    answers: [
      events(dataLines({ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } })),
      openAiText({ type: 'response.completed', response: { usage: openAiUsage } }),
    ],
    expected: { status: 'completed', text: 'You like bees.', requests: 2 },
  },
];

/** Anthropic names each event and sends `ping` between them. */
const named = (...chunks: readonly (object & { readonly type: string })[]) =>
  events(chunks.map((chunk) => `event: ${chunk.type}\ndata: ${JSON.stringify(chunk)}\n\n`).join(''));

const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 30, cache_creation_input_tokens: 0, cache_read_input_tokens: 10, output_tokens: 1 },
  },
};
const anthropicEnd = (reason: string, outputTokens: number) => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: outputTokens },
  },
  { type: 'message_stop' },
];
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const piece = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const blockEnd = (index: number) => ({ type: 'content_block_stop', index });
const anthropicCall = named(
  anthropicStart,
  { type: 'ping' },
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  piece(0, { type: 'thinking_delta', thinking: 'I should look.' }),
  piece(0, { type: 'signature_delta', signature: 'EqQB' }),
  blockEnd(0),
  block(1, { type: 'tool_use', id: 'toolu_1', name: 'recallMemory', input: {} }),
  piece(1, { type: 'input_json_delta', partial_json: '' }),
  piece(1, { type: 'input_json_delta', partial_json: '{"query":"be' }),
  piece(1, { type: 'input_json_delta', partial_json: 'es"}' }),
  blockEnd(1),
  ...anthropicEnd('tool_use', 20),
);
const anthropicText = (reason: string) =>
  named(
    anthropicStart,
    block(0, { type: 'text', text: '' }),
    piece(0, { type: 'text_delta', text: 'You like bees.' }),
    blockEnd(0),
    ...anthropicEnd(reason, 5),
  );
const anthropicError = (type: string) => ({ type: 'error', error: { type, message: 'secret' } });

const anthropic: readonly WireCase[] = [
  {
    title: 'anthropic: thinking, a tool call and an answer over the Messages API',
    provider: 'anthropic',
    path: '/v1',
    answers: [anthropicCall, anthropicText('end_turn')],
    request: { path: '/v1/messages', headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' } },
    expected: {
      status: 'completed',
      text: 'You like bees.',
      reasoning: 'I should look.',
      finishReason: 'stop',
      toolInput: { query: 'bees' },
      // Cached tokens count as input.
      usage: usageOf(80, 25, { cached: 20 }),
      requests: 2,
    },
  },
  {
    title: 'anthropic: a refusal',
    provider: 'anthropic',
    path: '/v1',
    answers: [anthropicText('refusal')],
    expected: { status: 'completed', text: 'You like bees.', finishReason: 'content-filter' },
  },
  {
    title: 'anthropic: overloaded (529) at first',
    provider: 'anthropic',
    path: '/v1',
    answers: [
      { ...json(anthropicError('overloaded_error'), 529), headers: { 'retry-after': '0' } },
      anthropicText('end_turn'),
    ],
    expected: { status: 'completed', text: 'You like bees.', requests: 2 },
  },
  {
    title: 'anthropic: overloaded at the beginning of the stream',
    provider: 'anthropic',
    path: '/v1',
    answers: [named(anthropicError('overloaded_error')), anthropicText('end_turn')],
    expected: { status: 'completed', text: 'You like bees.', requests: 2 },
  },
  {
    title: 'anthropic: a stream that breaks off before the first word',
    provider: 'anthropic',
    path: '/v1',
    answers: [named(anthropicStart, block(0, { type: 'text', text: '' })), anthropicText('end_turn')],
    expected: { status: 'completed', text: 'You like bees.', requests: 2 },
  },
  {
    title: 'anthropic: a wrong key',
    provider: 'anthropic',
    path: '/v1',
    answers: [json(anthropicError('authentication_error'), 401)],
    expected: { status: 'failed', error: 'The model provider rejected the credentials (401).', requests: 1 },
  },
];

const candidate = (parts: readonly object[], rest: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }],
  modelVersion: 'gemini',
});
const googleUsage = { promptTokenCount: 30, cachedContentTokenCount: 8, candidatesTokenCount: 4 };
const googleCall = events(
  dataLines(candidate([{ text: 'I should look.', thought: true }]), {
    ...candidate([{ functionCall: { name: 'recallMemory', args: { query: 'bees' } }, thoughtSignature: 'CpcB' }], {
      finishReason: 'STOP',
    }),
    usageMetadata: { ...googleUsage, thoughtsTokenCount: 6, totalTokenCount: 40 },
  }),
);
const googleText = (finishReason: string) =>
  events(
    dataLines(candidate([{ text: 'You like ' }]), {
      ...candidate([{ text: 'bees.' }], { finishReason }),
      usageMetadata: { ...googleUsage, totalTokenCount: 34 },
    }),
  );

const google: readonly WireCase[] = [
  {
    title: 'google: a thought, a tool call and an answer over streamGenerateContent',
    provider: 'google',
    path: '/v1beta',
    answers: [googleCall, googleText('STOP')],
    request: { path: ':streamGenerateContent?alt=sse', headers: { 'x-goog-api-key': key } },
    expected: {
      status: 'completed',
      text: 'You like bees.',
      reasoning: 'I should look.',
      finishReason: 'stop',
      toolInput: { query: 'bees' },
      usage: usageOf(60, 14, { reasoning: 6, cached: 16 }),
      requests: 2,
    },
  },
  {
    title: 'google: an answer that is filtered',
    provider: 'google',
    path: '/v1beta',
    answers: [googleText('SAFETY')],
    expected: { status: 'completed', text: 'You like bees.', finishReason: 'content-filter' },
  },
  {
    title: 'google: a stream without a finish reason',
    provider: 'google',
    path: '/v1beta',
    answers: [events(dataLines(candidate([{ text: 'You like bees.' }])))],
    expected: { status: 'failed', text: 'You like bees.', error: 'The model stopped in the middle of its answer.' },
  },
  {
    title: 'google: a stream that breaks off before the first word',
    provider: 'google',
    path: '/v1beta',
    answers: [events(dataLines(candidate([]))), googleText('STOP')],
    expected: { status: 'completed', text: 'You like bees.', requests: 2 },
  },
  {
    title: 'google: too many requests',
    provider: 'google',
    path: '/v1beta',
    answers: [
      {
        ...json({ error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED' } }, 429),
        headers: { 'retry-after': '0' },
      },
      googleText('STOP'),
    ],
    expected: { status: 'completed', text: 'You like bees.', requests: 2 },
  },
];

export const packageCases: readonly WireCase[] = [...openAi, ...anthropic, ...google];
