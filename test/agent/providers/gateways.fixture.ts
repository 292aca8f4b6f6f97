/** What gateways do in their own ways: servers that pass requests on to other providers. */
import { answered, chunk, ends, refuse, says, stream, text, usage } from './chunks.fixture.ts';
import { dataLines, events } from './wire.fixture.ts';
import type { WireCase } from './wirecase.fixture.ts';

const openRouter: readonly WireCase[] = [
  {
    title: 'OpenRouter: comments, reasoning under another name, and the native finish reason',
    path: '/api/v1',
    answers: [
      events(
        `: OPENROUTER PROCESSING\n\n${dataLines(
          chunk({ delta: { role: 'assistant', content: '', reasoning: 'I know.', reasoning_details: [] } }),
        )}: OPENROUTER PROCESSING\n\n${dataLines(
          says('You like bees.'),
          chunk({ finish_reason: 'length', ...{ native_finish_reason: 'MAX_TOKENS' } }),
          { choices: [], usage: usage(8, 3, { cost: 0.1 }) },
        )}data: [DONE]\n\n`,
      ),
    ],
    expected: { ...answered, reasoning: 'I know.', finishReason: 'length' },
  },
  {
    title: 'OpenRouter: an error in the middle of the stream',
    path: '/api/v1',
    answers: [
      stream(says('You like'), {
        ...ends('error'),
        error: { code: 502, message: 'secret: the provider disconnected' },
      }),
    ],
    expected: { status: 'failed', text: 'You like' },
  },
  {
    title: 'OpenRouter: an error before the first word',
    path: '/api/v1',
    answers: [
      events(
        `: OPENROUTER PROCESSING\n\n${dataLines({
          ...chunk({}),
          choices: [],
          error: { code: 429, message: 'secret: too many requests' },
        })}`,
      ),
      text,
    ],
    expected: { ...answered, requests: 2 },
  },
  {
    title: 'OpenRouter: a prompt that is too long, in the stream',
    path: '/api/v1',
    question: 'bees '.repeat(3000),
    answers: [stream({ ...chunk({}), choices: [], error: { code: 400, message: 'prompt is too long' } }), text],
    expected: { ...answered, requests: 2 },
  },
  {
    title: 'OpenRouter: an error before the first word that is final',
    path: '/api/v1',
    answers: [stream({ ...ends('error'), error: { code: 403, message: 'secret: flagged' } })],
    expected: { status: 'failed', error: 'The model provider rejected the credentials (403).', requests: 1 },
  },
  {
    title: 'OpenRouter: no credit (402)',
    path: '/api/v1',
    answers: [refuse('secret', 402)],
    expected: { status: 'failed', error: 'The model provider returned 402.', requests: 1 },
  },
];

const liteLlm: readonly WireCase[] = [
  {
    title: 'LiteLLM: an error of the model behind it, with a text as its code',
    path: '/v1',
    answers: [stream(says('You like'), { error: { message: 'secret', type: 'None', param: 'None', code: '500' } })],
    expected: { status: 'failed', text: 'You like' },
  },
  {
    title: 'LiteLLM: an error of the model behind it, before the first word',
    path: '/v1',
    answers: [stream({ error: { message: 'secret', type: 'None', param: 'None', code: '500' } }), text],
    expected: { ...answered, requests: 2 },
  },
];

export const gatewayCases: readonly WireCase[] = [...openRouter, ...liteLlm];
