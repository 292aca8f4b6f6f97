/** What servers of OpenAI's chat completions do in their own ways. docs/providers.md names the page of each difference. */
import {
  answered,
  args,
  calls,
  chunk,
  ends,
  recalled,
  refuse,
  says,
  stream,
  text,
  usage,
  wholeCall,
} from './chunks.fixture.ts';
import { gatewayCases } from './gateways.fixture.ts';
import { dataLines, events, json } from './wire.fixture.ts';
import { usageOf, type WireCase } from './wirecase.fixture.ts';

const openAi: readonly WireCase[] = [
  {
    title: 'OpenAI: arguments in pieces, and usage in a last chunk without choices',
    path: '/v1',
    answers: [
      stream(
        chunk({ delta: { role: 'assistant', content: null } }),
        calls({ index: 0, id: 'call_1', type: 'function', function: { name: 'recallMemory', arguments: '' } }),
        calls({ index: 0, function: { arguments: '{"query":' } }),
        calls({ index: 0, function: { arguments: '"bees"}' } }),
        ends('tool_calls'),
        { choices: [], usage: usage(20, 10, { completion_tokens_details: { reasoning_tokens: 4 } }) },
      ),
      stream(says('You like bees.'), ends('stop'), {
        choices: [],
        usage: usage(30, 5, { prompt_tokens_details: { cached_tokens: 16 } }),
      }),
    ],
    request: { path: '/v1/chat/completions', body: { stream_options: { include_usage: true } } },
    expected: { ...recalled, usage: usageOf(50, 15, { reasoning: 4, cached: 16 }), requests: 2 },
  },
  {
    title: 'OpenAI: a reasoning model that refuses `max_tokens`',
    path: '/v1',
    entry: { maxOutputTokens: 100 },
    answers: [
      refuse(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      ),
      text,
    ],
    sent: { includes: ['"max_completion_tokens":100'], excludes: ['"max_tokens"'] },
    expected: { ...answered, requests: 2 },
  },
];

const azure: readonly WireCase[] = [
  {
    title: 'Azure OpenAI: a first chunk with filter results alone, and an answer that is filtered',
    path: '/openai/v1',
    entry: { query: { 'api-version': 'preview' } },
    answers: [
      stream(
        { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0 }] },
        chunk({ delta: { role: 'assistant', content: '' } }, { content_filter_results: {} }),
        says('You like bees.'),
        ends('content_filter'),
      ),
    ],
    request: { path: '/openai/v1/chat/completions?api-version=preview' },
    expected: { ...answered, finishReason: 'content-filter', usage: usageOf(null, null) },
  },
  {
    title: 'Azure OpenAI: chunks of an asynchronous filter, which have a choice without a delta',
    path: '/openai/v1',
    answers: [
      stream(says('You like bees.'), ends('stop'), {
        id: '',
        choices: [{ finish_reason: null, index: 0, content_filter_offsets: {}, content_filter_results: {} }],
        created: 0,
        model: '',
        object: '',
      }),
    ],
    expected: { ...answered, finishReason: 'stop' },
  },
];

const anthropicAndGemini: readonly WireCase[] = [
  {
    title: "Anthropic's compatible endpoint: details of the usage are always empty",
    path: '/v1',
    answers: [
      stream(says('You like bees.'), ends('stop'), {
        choices: [],
        usage: usage(9, 4, { prompt_tokens_details: null, completion_tokens_details: null }),
      }),
    ],
    expected: { ...answered, usage: usageOf(9, 4) },
  },
  {
    title: "Gemini's compatible endpoint: a call without an index, whose signature is sent back",
    path: '/v1beta/openai',
    answers: [
      stream(
        calls({
          id: 'function-call-1',
          type: 'function',
          function: { name: 'recallMemory', arguments: args },
          extra_content: { google: { thought_signature: 'CpcBAQ' } },
        }),
        ends('stop'),
      ),
      text,
    ],
    sent: { includes: ['CpcBAQ'] },
    expected: { ...recalled, requests: 2 },
  },
  {
    title: "Gemini's compatible endpoint: an error as a list",
    path: '/v1beta/openai',
    answers: [json([{ error: { code: 400, message: 'secret', status: 'INVALID_ARGUMENT' } }], 400)],
    expected: { status: 'failed', error: 'The model provider returned 400.', requests: 1 },
  },
];

const groqAndMistral: readonly WireCase[] = [
  {
    title: 'Groq: reasoning that it refuses to get back, and usage in a field of its own',
    path: '/openai/v1',
    answers: [
      stream(
        chunk({ delta: { role: 'assistant', reasoning: 'I should look.' } }),
        calls(wholeCall),
        ends('tool_calls', { x_groq: { id: 'req_1', usage: usage(20, 10) }, usage: usage(20, 10) }),
      ),
      refuse(
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
      ),
      text,
    ],
    sent: { excludes: ['reasoning_content'] },
    expected: { ...recalled, reasoning: 'I should look.', requests: 3 },
  },
  {
    title: 'Mistral: refuses `stream_options`, calls whole, ends at the length of the model',
    path: '/v1',
    answers: [
      json(
        {
          object: 'error',
          message: {
            detail: [
              {
                type: 'extra_forbidden',
                loc: ['body', 'stream_options', 'include_usage'],
                msg: 'Extra inputs are not permitted',
                input: true,
              },
            ],
          },
          type: 'invalid_request_error',
        },
        422,
      ),
      stream(
        chunk({
          delta: { tool_calls: [{ ...wholeCall, id: 'Xq3z8Kp1a' }] },
          finish_reason: 'tool_calls',
        }),
      ),
      stream(says('You like bees.'), ends('model_length', { usage: usage(30, 5) })),
    ],
    sent: { excludes: ['"stream_options"'] },
    expected: { ...recalled, finishReason: 'model_length', requests: 3 },
  },
  {
    title: 'Mistral: thoughts and text as parts of the content',
    path: '/v1',
    answers: [
      stream(
        chunk({ delta: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'I know.' }] }] } }),
        chunk({ delta: { content: [{ type: 'text', text: 'You like bees.' }] } }),
        ends('stop'),
      ),
    ],
    expected: { ...answered, reasoning: 'I know.' },
  },
];

const deepSeekAndTogether: readonly WireCase[] = [
  {
    title: 'DeepSeek: comments while it waits, and reasoning that it requires back',
    path: '',
    answers: [
      events(
        `: keep-alive\n\n${dataLines(
          chunk({ delta: { role: 'assistant', content: null, reasoning_content: 'I should look.' } }),
          calls(wholeCall),
          ends('tool_calls', {
            usage: usage(20, 10, { prompt_cache_hit_tokens: 0, completion_tokens_details: { reasoning_tokens: 6 } }),
          }),
        )}data: [DONE]\n\n`,
      ),
      text,
    ],
    request: { path: '/chat/completions' },
    sent: { includes: ['"reasoning_content":"I should look."'] },
    expected: { ...recalled, reasoning: 'I should look.', requests: 2 },
  },
  {
    title: 'DeepSeek: interrupted for lack of resources',
    path: '',
    answers: [stream(says('You like bees.'), ends('insufficient_system_resource'))],
    expected: { ...answered, finishReason: 'insufficient_system_resource' },
  },
  {
    title: 'Together: ends at the `eos` token, with the usage in the same chunk',
    path: '/v1',
    answers: [stream(says('You like bees.'), ends('eos', { usage: usage(7, 3) }))],
    expected: { ...answered, finishReason: 'eos' },
  },
];

const local: readonly WireCase[] = [
  {
    title: 'Ollama: a whole call that ends with `stop`',
    path: '/v1',
    answers: [
      stream(
        chunk({ delta: { role: 'assistant', content: '', reasoning: 'I should look.' } }),
        calls({ ...wholeCall, id: 'call_abc' }),
        ends('stop'),
      ),
      text,
    ],
    expected: { ...recalled, requests: 2 },
  },
  {
    title: 'Ollama: a model that is not pulled',
    path: '/v1',
    answers: [json({ error: { message: 'model not found, try pulling it first', type: 'api_error' } }, 404)],
    expected: { status: 'failed', error: 'The model provider returned 404.' },
  },
  {
    title: 'vLLM: started without a parser for tool calls',
    path: '/v1',
    answers: [
      json(
        { object: 'error', message: '"auto" tool choice requires --enable-auto-tool-choice', code: 400, type: 'x' },
        400,
      ),
    ],
    expected: { status: 'failed', error: 'The model provider returned 400.', requests: 1 },
  },
  {
    title: 'vLLM: empty arguments before the first piece, and `reasoning`',
    path: '/v1',
    answers: [
      stream(
        chunk({ delta: { role: 'assistant', content: '' } }),
        chunk({ delta: { reasoning: 'I should look.' } }),
        calls({ index: 0, id: 'chatcmpl-tool-1', type: 'function', function: { name: 'recallMemory' } }),
        calls({ index: 0, function: { arguments: args } }),
        ends('tool_calls'),
      ),
      text,
    ],
    expected: { ...recalled, reasoning: 'I should look.', requests: 2 },
  },
  {
    title: "llama.cpp's server: loading its model (503) at first",
    path: '/v1',
    answers: [
      {
        ...json({ error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }, 503),
        headers: { 'retry-after': '0' },
      },
      stream(chunk({ delta: { reasoning_content: 'I know.' } }), says('You like bees.'), {
        ...ends('stop'),
        timings: { prompt_n: 1 },
      }),
    ],
    expected: { ...answered, reasoning: 'I know.', requests: 2 },
  },
  {
    title: "llama.cpp's server: an error event in the stream",
    path: '/v1',
    answers: [events(`${dataLines(says('You like'))}error: {"code":500,"message":"secret","type":"server_error"}\n\n`)],
    expected: { status: 'failed', text: 'You like' },
  },
  {
    title: 'LM Studio: an error under its own event name',
    path: '/v1',
    answers: [events(`event: error\ndata: {"error":{"message":"secret: the model crashed"}}\n\n`)],
    expected: { status: 'failed' },
  },
];

export const compatibleCases: readonly WireCase[] = [
  ...openAi,
  ...azure,
  ...anthropicAndGemini,
  ...groqAndMistral,
  ...deepSeekAndTogether,
  ...local,
  ...gatewayCases,
];
